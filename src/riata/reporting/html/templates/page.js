"use strict";
document.documentElement.classList.add("script");
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const parsed = (element) => JSON.parse(element.textContent);

function short(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text;
  if (size >= 1e4 && size < 1e15 && (Number.isInteger(value) || size >= 10 ** (digits - 1))) text = Math.round(size).toLocaleString("en");
  else if (size < 1e-4 || size >= 1e15) text = Number(size.toPrecision(digits)).toExponential().replace("e+", "e");
  else text = String(Number(size.toPrecision(digits)));
  return (value < 0 ? "−" : "") + text;
}

/* Tables: a click on a head sorts, letters in the box search. */

function cellKey(row, column) {
  const cell = row.cells[column];
  return "value" in cell.dataset ? (cell.dataset.value === "" ? NaN : Number(cell.dataset.value)) : cell.textContent;
}

function compare(a, b) {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b), "en", { numeric: true });
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  return Number.isNaN(b) ? -1 : a - b;
}

function sortBy(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const isNumber = head.classList.contains("number");
  const falling = head.ariaSort ? head.ariaSort === "ascending" : isNumber; // numbers: the largest first
  const rows = [...table.tBodies[0].rows].map((row) => [cellKey(row, column), row]);
  rows.sort(([a], [b]) => (falling ? compare(b, a) : compare(a, b)));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.ariaSort = falling ? "descending" : "ascending";
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function search(box) {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = all("tbody tr", box.closest(".table"));
  let found = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    found += row.hidden ? 0 : 1;
  }
  box.parentElement.querySelector(".found").textContent = words.length ? `${found} of ${rows.length}` : "";
}

for (const table of all("table[data-sortable]")) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.textContent = cell.textContent;
    button.addEventListener("click", () => sortBy(table, column));
    cell.replaceChildren(button);
  });
}
for (const box of all("input[type=search]")) box.addEventListener("input", () => search(box));

/* Charts: the nearest point speaks, a rectangle zooms in, a double click goes back. */

class Scale {
  constructor({ start, end, log }) {
    Object.assign(this, { start, end, log });
  }
  at(value) {
    const f = this.log ? Math.log : (v) => v;
    return (f(value) - f(this.start)) / (f(this.end) - f(this.start));
  }
  from(place) {
    if (!this.log) return this.start + place * (this.end - this.start);
    return Math.exp(Math.log(this.start) + place * (Math.log(this.end) - Math.log(this.start)));
  }
  part(a, b) {
    return new Scale({ start: this.from(a), end: this.from(b), log: this.log });
  }
  /* Whether its numbers differ by more than rounding. */
  get tells() {
    return Math.abs(this.end - this.start) > 1e-10 * Math.max(Math.abs(this.start), Math.abs(this.end));
  }
  ticks() {
    const [low, high] = [this.start, this.end].sort((a, b) => a - b);
    if (this.log && high / low >= 10) {
      const decades = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
        for (const m of high / low < 1e3 ? [1, 2, 5] : [1]) decades.push(m * 10 ** e);
      return decades.filter((t) => t >= low && t <= high);
    }
    const raw = (high - low) / 6;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
    const ticks = [];
    for (let n = Math.ceil(low / step); n * step <= high; n++) ticks.push(Number((n * step).toPrecision(12)));
    return ticks;
  }
}

/* Numbers in as few digits as tell them apart. */
function apart(numbers) {
  let texts = [];
  for (let digits = 4; digits <= 13; digits++) {
    texts = numbers.map((number) => short(number, digits));
    if (new Set(texts).size === texts.length) break;
  }
  return texts;
}

const tip = document.getElementById("tip");

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.frame = figure.querySelector(".frame");
    this.svg = figure.querySelector("svg");
    this.fullX = this.x = new Scale(JSON.parse(figure.dataset.x));
    this.fullY = this.y = new Scale(JSON.parse(figure.dataset.y));
    const { x, series } = parsed(figure.querySelector("script"));
    this.series = series.map((one) => ({ x, ...one }));
    this.groups = all(".series", figure);
    this.corner = null; // where a rectangle began
    this.listen();
  }

  listen() {
    this.frame.addEventListener("pointermove", (event) => (this.corner ? this.stretch(event) : this.point(event)));
    this.frame.addEventListener("pointerleave", () => this.leave());
    this.frame.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && this.begin(event));
    this.frame.addEventListener("pointerup", (event) => this.end(event));
    this.frame.addEventListener("dblclick", () => this.show(this.fullX, this.fullY));
  }

  place(event) {
    const box = this.frame.getBoundingClientRect();
    const inside = (v) => Math.min(1, Math.max(0, v));
    return [inside((event.clientX - box.left) / box.width), inside(1 - (event.clientY - box.top) / box.height)];
  }

  nearest(event) {
    const box = this.frame.getBoundingClientRect();
    const [px, py] = this.place(event);
    let best = null;
    for (const one of this.series)
      for (let i = 0; i < one.x.length; i++) {
        if (one.x[i] === null || one.y[i] === null) continue;
        const dx = (this.x.at(one.x[i]) - px) * box.width;
        const dy = (this.y.at(one.y[i]) - py) * box.height;
        const distance = dx * dx + dy * dy;
        if (best === null || distance < best.distance) best = { distance, one, i };
      }
    return best;
  }

  point(event) {
    const best = this.nearest(event);
    if (best === null || best.distance > 60 * 60) return this.leave();
    const { one, i } = best;
    const name = this.series.length > 1 && one.name ? `${one.name}: ` : "";
    tip.textContent = `${name}${short(one.y[i])} at ${short(one.x[i])}`;
    tip.hidden = false;
    const width = tip.offsetWidth;
    tip.style.left = `${Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 8)}px`;
    tip.style.top = `${Math.max(8, event.clientY - 34)}px`;
    if (this.series.length > 1)
      for (const group of this.groups) group.classList.toggle("dim", group.dataset.name !== one.name);
  }

  leave() {
    tip.hidden = true;
    for (const group of this.groups) group.classList.remove("dim");
  }

  begin(event) {
    this.corner = this.place(event);
    this.rectangle = document.createElement("div");
    this.rectangle.className = "selection";
    this.frame.append(this.rectangle);
    this.frame.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  stretch(event) {
    const [[a, b], [c, d]] = [this.corner, this.place(event)];
    const style = this.rectangle.style;
    style.left = `${100 * Math.min(a, c)}%`;
    style.width = `${100 * Math.abs(a - c)}%`;
    style.bottom = `${100 * Math.min(b, d)}%`;
    style.height = `${100 * Math.abs(b - d)}%`;
  }

  end(event) {
    if (!this.corner) return event.pointerType === "mouse" || this.pick(event); // a finger picks, and never zooms
    const [[a, b], [c, d]] = [this.corner, this.place(event)];
    this.rectangle.remove();
    this.corner = null;
    if (Math.abs(a - c) < 0.03 || Math.abs(b - d) < 0.03) return this.pick(event);
    const [x, y] = [this.x.part(Math.min(a, c), Math.max(a, c)), this.y.part(Math.min(b, d), Math.max(b, d))];
    if (x.tells && y.tells) this.show(x, y);
  }

  pick(event) {
    this.figure.dispatchEvent(new CustomEvent("pick", { detail: this.x.from(this.place(event)[0]) }));
  }

  show(x, y) {
    this.x = x;
    this.y = y;
    const [left, right] = [x.start, x.end].map((v) => 1000 * this.fullX.at(v));
    const [bottom, top] = [y.start, y.end].map((v) => 1000 * (1 - this.fullY.at(v)));
    this.svg.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
    this.figure.classList.toggle("zoomed", x !== this.fullX);
    this.label(".x-ticks", x, "left");
    this.label(".y-ticks", y, "bottom");
    const lines = [
      ...x.ticks().map((t) => `M${1000 * this.fullX.at(t)} -9999V9999`),
      ...y.ticks().map((t) => `M-9999 ${1000 * (1 - this.fullY.at(t))}H9999`),
    ];
    const made = lines.map((d) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", d);
      return path;
    });
    this.svg.querySelector(".grid").replaceChildren(...made);
  }

  label(where, scale, side) {
    const ticks = scale.ticks();
    const texts = apart(ticks);
    const spans = ticks.map((tick, i) => {
      const span = document.createElement("span");
      span.textContent = texts[i];
      span.style[side] = `${100 * scale.at(tick)}%`;
      return span;
    });
    this.figure.querySelector(where).replaceChildren(...spans);
  }

  mark(value) {
    let line = this.svg.querySelector(".picked");
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("class", "picked");
      this.svg.append(line);
    }
    line.setAttribute("d", `M${1000 * this.fullX.at(value)} -9999V9999`);
  }
}

const charts = new Map(all("figure.xy").map((figure) => [figure, new Chart(figure)]));

/* Paths: a click on a chart or the slider shows the model there. */

function row(cells) {
  const line = document.createElement("tr");
  for (const [text, value] of cells) {
    const cell = line.insertCell();
    cell.textContent = text;
    if (value === undefined) continue;
    cell.className = "number";
    cell.dataset.value = value;
  }
  return line;
}

function showModel(box, path, i) {
  const model = path.models[i];
  box.querySelector(".here").textContent = model.text;
  box.querySelector("input[type=range]").value = i;
  const rows = model.features.map((j, n) => {
    const [coef, effect] = [model.coefs[n], model.coefs[n] * path.scale[j]];
    return row([[path.names[j]], [short(coef), coef], [short(effect), effect]]);
  });
  const table = box.querySelector("[id^=picked] table");
  table.tBodies[0].replaceChildren(...rows);
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  const leftOut = box.querySelector(".left-out");
  leftOut.hidden = model.left_out === 0;
  leftOut.textContent = `and ${model.left_out} feature${model.left_out === 1 ? "" : "s"} of smaller effects`;
  for (const figure of all("figure.xy", box)) charts.get(figure).mark(path.values[i]);
}

for (const box of all(".path")) {
  const path = parsed(box.querySelector("script.models"));
  const slider = box.querySelector("input[type=range]");
  slider.addEventListener("input", () => showModel(box, path, Number(slider.value)));
  for (const figure of all("figure.xy", box))
    figure.addEventListener("pick", ({ detail }) => {
      const scale = charts.get(figure).fullX;
      const distance = path.values.map((value) => Math.abs(scale.at(value) - scale.at(detail)));
      showModel(box, path, distance.indexOf(Math.min(...distance)));
    });
}

/* Text to be copied. */

for (const block of all("pre[data-copy]")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.textContent = "copied";
  });
  block.prepend(button);
}
