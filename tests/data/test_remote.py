"""Files on S3, against a server of its own on loopback; and on a file system of fsspec."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from catalogue import make_rows, table_of
from numpy.testing import assert_allclose

from riata.data.opening.open import open_data
from riata.errors import DataError
from riata.training.fitting import fit
from riata.training.spec import Spec

moto_server = pytest.importorskip("moto.server", reason="the S3 server of moto is not installed")


@pytest.fixture(scope="module")
def bucket():
    """The query that leads a URL to the server, with a bucket `rows` of ten files."""
    os.environ.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test", AWS_EC2_METADATA_DISABLED="true")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    s3 = pyarrow.fs.S3FileSystem(
        endpoint_override=f"http://{host}:{port}", region="us-east-1", allow_bucket_creation=True
    )
    s3.create_dir("rows")
    X, y = make_rows(np.random.default_rng(5))
    for i, part in enumerate(np.array_split(np.arange(len(y)), 10)):
        pq.write_table(table_of(X[part], y[part]), f"rows/parts/{i:02}.parquet", filesystem=s3)
    with s3.open_output_stream("rows/all.csv.gz", compression="gzip") as file:
        pa.csv.write_csv(table_of(X, y), file)
    yield f"?endpoint_override=http%3A%2F%2F{host}%3A{port}&region=us-east-1"
    server.stop()


@pytest.mark.filterwarnings("ignore")  # moto's own dependencies warn
@pytest.mark.parametrize("path", ["rows/parts", "rows/parts/*.parquet", "rows/all.csv.gz"])
def test_rows_on_s3_give_the_same_coefficients(bucket, path):
    X, y = make_rows(np.random.default_rng(5))
    spec = Spec(alpha=0.05, solver="cd", tol=1e-13)
    expected = fit(open_data(X, y), spec).result.coef
    assert_allclose(fit(open_data(f"s3://{path}{bucket}", "y"), spec).result.coef, expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", ["absent/x.csv", "rows/absent.parquet"])
def test_what_is_not_there_is_named(bucket, path):
    with pytest.raises(DataError, match=path.split("/")[0]):
        open_data(f"s3://{path}{bucket}", "y")


def test_a_file_system_of_fsspec():
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    memory = fsspec.filesystem("memory")
    X, y = make_rows(np.random.default_rng(5))
    with memory.open("/some/rows.csv", "wb") as file:
        pa.csv.write_csv(table_of(X, y), file)
    for source, options in (("memory://some/rows.csv", {}), ("some/rows.csv", {"filesystem": memory})):
        assert_allclose(open_data(source, "y", **options).X, X)
