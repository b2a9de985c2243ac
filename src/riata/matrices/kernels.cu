// Sums over the rows of a chunk, in double whatever the rows hold. Every sum is made in a fixed order (tiles of rows,
// each by one thread per column, added up afterwards), so that a repeated pass gives the same bits.

typedef long long size;

template <class T, int V> struct alignas(sizeof(T) * V) Pack { T of[V]; };

__device__ double warp_sum(double value) {
    for (int offset = 16; offset; offset >>= 1) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

// z_i = sum_s x_i,support(s) w_s: a warp for each row.
template <class T>
__global__ void margins(const T* X, size n, size d, const size* support, const double* w, size k, double* z) {
    size row = (blockIdx.x * (size)blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    double total = 0.0;
    for (size s = threadIdx.x % 32; s < k; s += 32) total += (double)X[row * d + support[s]] * w[s];
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0) z[row] = total;
}

// The products of two vectors of rows with every column, for each tile of rows: V neighbouring columns a thread.
template <class T, int V>
__global__ void two_slopes(const T* X, size n, size d, const double* U, size tile, double* out) {
    size j = V * (blockIdx.x * (size)blockDim.x + threadIdx.x);
    if (j >= d) return;
    double first[V] = {}, second[V] = {};
    size end = min(n, (blockIdx.y + 1) * tile);
#pragma unroll 8
    for (size i = blockIdx.y * tile; i < end; ++i) {
        Pack<T, V> x = *(const Pack<T, V>*)(X + i * d + j);
        double u = U[i], v = U[n + i];
#pragma unroll
        for (int c = 0; c < V; ++c) {
            first[c] += u * x.of[c];
            second[c] += v * x.of[c];
        }
    }
    for (int c = 0; c < V; ++c) {
        out[2 * blockIdx.y * d + j + c] = first[c];
        out[(2 * blockIdx.y + 1) * d + j + c] = second[c];
    }
}

// Sums of u a, curvature a and curvature a^2 for every column, a = x - shift, for each tile of rows.
template <class T>
__global__ void shifted_sums(const T* X, size n, size d, const double* shift, const double* u, const double* curvature,
                             size tile, double* out) {
    size j = blockIdx.x * (size)blockDim.x + threadIdx.x;
    if (j >= d) return;
    double by_u = 0.0, by_curvature = 0.0, squares = 0.0, centre = shift[j];
    size end = min(n, (blockIdx.y + 1) * tile);
#pragma unroll 8
    for (size i = blockIdx.y * tile; i < end; ++i) {
        double a = X[i * d + j] - centre, bent = curvature[i] * a;
        by_u += u[i] * a;
        by_curvature += bent;
        squares += bent * a;
    }
    out[3 * blockIdx.y * d + j] = by_u;
    out[(3 * blockIdx.y + 1) * d + j] = by_curvature;
    out[(3 * blockIdx.y + 2) * d + j] = squares;
}

// A sparse matrix times a vector: a warp for each of its rows. Column numbers are indices[p].
template <class T, class I>
__global__ void csr_times_one(const size* starts, const I* indices, const T* data, size n, const double* v, double* out) {
    size row = (blockIdx.x * (size)blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    double total = 0.0;
    for (size p = starts[row] + threadIdx.x % 32; p < starts[row + 1]; p += 32) total += data[p] * v[indices[p]];
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0) out[row] = total;
}

// A sparse matrix times a dense one of m columns: a block for each of its rows, a thread for each column.
template <class T, class I>
__global__ void csr_times_many(const size* starts, const I* indices, const T* data, size m, const double* V, double* out) {
    size row = blockIdx.x;
    for (size c = threadIdx.x; c < m; c += blockDim.x) {
        double total = 0.0;
        for (size p = starts[row]; p < starts[row + 1]; ++p) total += data[p] * V[indices[p] * m + c];
        out[row * m + c] = total;
    }
}

// Of every column (a row of the transposed matrix): sums of u x, of curvature x, of curvature (x - shift)^2 over its
// entries, and of the curvature of the rows that have one.
template <class T, class I>
__global__ void csr_column_sums(const size* starts, const I* indices, const T* data, size d, const double* shift,
                                const double* u, const double* curvature, double* out) {
    size j = (blockIdx.x * (size)blockDim.x + threadIdx.x) / 32;
    if (j >= d) return;
    double by_u = 0.0, by_curvature = 0.0, squares = 0.0, seen = 0.0;
    for (size p = starts[j] + threadIdx.x % 32; p < starts[j + 1]; p += 32) {
        double x = data[p], a = x - shift[j], bent = curvature[indices[p]];
        by_u += u[indices[p]] * x;
        by_curvature += bent * x;
        squares += bent * a * a;
        seen += bent;
    }
    by_u = warp_sum(by_u);
    by_curvature = warp_sum(by_curvature);
    squares = warp_sum(squares);
    seen = warp_sum(seen);
    if (threadIdx.x % 32) return;
    out[j] = by_u;
    out[d + j] = by_curvature;
    out[2 * d + j] = squares;
    out[3 * d + j] = seen;
}

// Some columns over rows first <= i < last as a dense array of zeros filled in: a block for each column.
template <class T, class I>
__global__ void csr_columns(const size* starts, const I* indices, const T* data, const size* columns, size m, size first,
                            size last, double* out) {
    size c = blockIdx.x, low = starts[columns[c]], end = starts[columns[c] + 1], high = end;
    while (low < high) {  // the first entry of row `first` or later
        size middle = (low + high) / 2;
        if (indices[middle] < first) low = middle + 1;
        else high = middle;
    }
    for (size p = low + threadIdx.x; p < end && indices[p] < last; p += blockDim.x) {
        out[(indices[p] - first) * m + c] = data[p];
    }
}
