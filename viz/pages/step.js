// The page of steps. It knows two things: the log, in which nothing changes, and the state, which is
// where the reader stands. `show` draws the one as the other says; keys and buttons change the state.
// Whatever a log says is put on the page as text, never as markup. What a rule computes at one entry
// is told in `rules.js`, which stands before this.

const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;
const byId = (id) => document.getElementById(id);
const fill = (text, ...parts) => text.replace(/\{(\d)\}/g, (_, i) => parts[i]);

function element(name, attributes = {}, ...children) {
  const space = SVG.has(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const SVG = new Set(["svg", "rect", "path", "text", "pattern", "defs", "circle", "marker"]);

// ---------------------------------------------------------------------------------------- numbers

// Three digits, as in the sentences.
function brief(x) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  let text = String(x);
  if (!Number.isInteger(x) || Math.abs(x) >= 1e6) {
    text = rounded(x);
    const exponent = Number(text.split("e")[1]);
    if (exponent >= -4 && exponent < 3) text = Number(text).toFixed(2 - exponent);
    text = text.replace(/(\.\d*?)0+(?=$|e)/, "$1").replace(/\.(?=$|e)/, "").replace("e+", "e");
  }
  return text.replace(/-/g, "−");
}

// Three digits, of two that are as near the even one, as Python has it.
function rounded(x) {
  const [digits, exponent] = x.toExponential(60).split("e");
  const end = digits.indexOf(".") + 3;
  const isHalf = /^50*$/.test(digits.slice(end)) && "02468".includes(digits[end - 1]);
  return isHalf ? `${digits.slice(0, end)}e${exponent}` : x.toExponential(2);
}

// Every digit that tells the number from its neighbours.
function exact(x, dtype) {
  if (!Number.isFinite(x)) return brief(x);
  let text = String(x);
  if (dtype.endsWith("f4") || dtype.endsWith("f2")) {
    const same = (y) => (dtype.endsWith("f4") ? Math.fround(y) === x : y === x);
    const digits = [6, 7, 8, 9].find((n) => same(Number(x.toPrecision(n)))) ?? 17;
    text = String(Number(x.toPrecision(digits)));
  }
  return text.replace(/-/g, "−");
}

const shapeText = (shape) =>
  shape.length ? `(${shape.join(", ")}${shape.length === 1 ? "," : ""})` : words.scalar;
const size = (shape) => shape.reduce((a, b) => a * b, 1);
const number = (x) => (typeof x === "string" ? Number(x.replace("inf", "Infinity")) : x);

// -------------------------------------------------------------------------------------------- log

// An array of the log. Where it is shown in blocks, `cells` is the shape of what is here.
class Taken {
  constructor(raw) {
    this.raw = raw;
    this.shape = raw.shape;
    this.cells = raw.cells ?? raw.shape;
    this.block = raw.block ?? [1, 1];
    const [entries, low, high, , norm, zeros, nan, inf] = raw.summary.map(number);
    Object.assign(this, { entries, low, high, zeros, nan, inf });
    this.norm = nan ? NaN : inf ? Infinity : entries ? norm : 0;
    this.row = number(raw.row); // the median norm of a row, which no few rows can carry
  }
  get pooled() { return this.block[0] * this.block[1] > 1; }
  get values() {
    if (this.raw.data === undefined) return null;
    if (!this.read) {
      const bytes = Uint8Array.from(atob(this.raw.data), (c) => c.charCodeAt(0));
      this.read = new Float64Array(bytes.buffer);
    }
    return this.read;
  }
}

class Log {
  constructor(raw) {
    this.nodes = new Map(raw.nodes.map((node) => [node.key, node]));
    this.events = raw.events;
    this.sources = raw.sources;
    this.arrays = raw.arrays.map((array) => new Taken(array));
    this.changes = new Map(); // of each gradient: [index of the event, array]
    this.complete = new Map(); // the event at which it is
    this.passes = new Map(); // of each edge: [event of the rule, array]
    this.events.forEach((event, i) => {
      const receiver = event.target ?? event.node;
      if (event.after !== undefined) {
        if (!this.changes.has(receiver)) this.changes.set(receiver, []);
        this.changes.get(receiver).push([i, this.arrays[event.after]]);
      }
      if (event.kind === "enter" || event.kind === "done") this.complete.set(event.node, i);
      if (event.kind === "rule") {
        this.passes.set(`e-${event.node}-${event.position}`, [i, this.arrays[event.contribution]]);
      }
    });
  }
  array(index) { return index === undefined || index === null ? null : this.arrays[index]; }
  gradient(key, step) {
    let found = null;
    for (const [i, array] of this.changes.get(key) ?? []) if (i <= step) found = array;
    return found;
  }
  shown(event) { return this.array(event.after ?? event.contribution ?? event.upstream); }
}

const logs = data.logs.map((raw) => new Log(raw));
const log = logs[0];
const last = log.events.length - 1;
const isStop = (event) => ["seed", "enter", "done"].includes(event.kind);

const state = {
  step: 0,
  breakpoints: new Set(), // keys of tensors
  logarithmic: false,
  comparing: logs.length > 1,
  leading: [], // index on each leading axis, the last one first
  chosen: null, // { map, flat } of the cell that was pointed at
  playing: 0,
  zoom: 1, // of the graph
};

// ----------------------------------------------------------------------------------------- graph

const boxes = new Map(); // of each tensor: its element, and the text for its norm
const edges = new Map(); // of each edge: its element, and the path that grows back along it

// Larger or smaller by a step; what stood in the middle stays there.
function zoom(factor) {
  const [frame, drawn] = [byId("graph"), byId("graph").querySelector("svg")];
  const level = Math.min(Math.max(state.zoom * factor, 0.1), 4);
  const ratio = level / state.zoom;
  const [x, y] = [frame.scrollLeft + frame.clientWidth / 2, frame.scrollTop + frame.clientHeight / 2];
  const { width: wide, height: high } = drawn.viewBox.baseVal;
  drawn.setAttribute("width", `${wide * level * POINT}`);
  drawn.setAttribute("height", `${high * level * POINT}`);
  state.zoom = level;
  frame.scrollLeft = x * ratio - frame.clientWidth / 2;
  frame.scrollTop = y * ratio - frame.clientHeight / 2;
}
const POINT = 4 / 3; // in pixels

// As large as the whole graph can be seen, within limits.
function fit(least = 0, largest = 1) {
  const [frame, drawn] = [byId("graph"), byId("graph").querySelector("svg")];
  const { width: wide, height: high } = drawn.viewBox.baseVal;
  const most = Math.min((frame.clientWidth - 16) / wide, (frame.clientHeight - 16) / high) / POINT;
  zoom(Math.min(Math.max(most, least), largest) / state.zoom);
}

function readGraph() {
  for (const box of byId("graph").querySelectorAll(".node")) {
    const key = box.querySelector("title").textContent;
    const texts = [...box.querySelectorAll("text")];
    const line = texts.findLast((text) => text.textContent.trim() === data.room) ?? null;
    if (line) line.textContent = "";
    // An engine that lacks the reader's fonts has measured them wrong.
    const { x, width: wide } = box.getBBox();
    for (const text of [line, line ? texts.at(-2) : texts.at(-1)]) {
      text?.setAttribute("x", x + wide / 2);
      text?.setAttribute("text-anchor", "middle");
    }
    const [name, shape] = texts;
    if (shape) { // beside the name, and both in the middle
      const [a, b] = [name, shape].map((text) => text.getComputedTextLength());
      name.setAttribute("x", x + (wide - a - b - 7) / 2);
      shape.setAttribute("x", x + (wide - a - b - 7) / 2 + a + 7);
    }
    box.querySelector("title").remove(); // it is the key; the pointer finds the other one
    boxes.set(key, { box, line });
    box.addEventListener("click", () => {
      if (log.complete.has(key)) goTo(log.complete.get(key));
    });
  }
  for (const title of byId("graph").querySelectorAll(".cluster > title, .graph > title")) {
    title.remove();
  }
  for (const edge of byId("graph").querySelectorAll(".edge")) {
    const path = edge.querySelector("path");
    const grown = element("path", { class: "gradient", d: path.getAttribute("d"), pathLength: 1 });
    path.after(grown);
    edge.querySelector("title")?.remove();
    edges.set(edge.id, { edge, grown });
  }
}

// As wide as the norm's logarithm, the same on every page.
const width = (norm) => 1 + 0.42 * Math.min(Math.max(Math.log10(norm) + 8, 0), 14);

function showGraph(event) {
  for (const [key, { box, line }] of boxes) {
    const node = log.nodes.get(key);
    if (!node) continue;
    const known = log.gradient(key, state.step);
    const isDone = (log.complete.get(key) ?? Infinity) <= state.step;
    box.classList.toggle("done", isDone);
    box.classList.toggle("partial", known !== null && !isDone);
    box.classList.toggle("pending", known === null && node.kind !== "constant");
    box.classList.toggle("current", key === event.node);
    box.classList.toggle("target", key === event.target);
    box.classList.toggle("broken", known !== null && !Number.isFinite(known.norm));
    box.classList.toggle("stop", state.breakpoints.has(key));
    mark(box, key === event.node, state.breakpoints.has(key));
    if (line) line.textContent = known === null ? "" : normLine(key, known);
  }
  for (const [id, { edge, grown }] of edges) {
    const passed = log.passes.get(id);
    const isPassed = passed !== undefined && passed[0] <= state.step;
    edge.classList.toggle("passed", isPassed);
    edge.classList.toggle("now", isPassed && id === `e-${event.node}-${event.position}`);
    edge.classList.toggle("zero", isPassed && passed[1].norm === 0);
    edge.classList.toggle("broken", isPassed && !Number.isFinite(passed[1].norm));
    grown.style.strokeWidth = isPassed && passed[1].norm > 0 ? width(passed[1].norm) : "";
  }
  byId("caption").textContent = state.comparing ? fill(words["on boxes"], ...data.labels) : "";
  for (const key of [event.node, event.target]) follow(boxes.get(key)?.box);
}

function normLine(key, known) {
  const other = state.comparing ? logs[1].gradient(key, state.step) : null;
  if (!other) return `‖∂L‖ ${brief(known.norm)}`;
  return `${brief(known.row)} / ${brief(other.row)} = ${brief(known.row / other.row)}`;
}

function mark(box, isCurrent, isStop) {
  for (const old of box.querySelectorAll(".marker, .dot")) old.remove();
  if (!isCurrent && !isStop) return;
  const { x, y, height } = box.getBBox();
  const middle = y + height / 2;
  if (isCurrent) box.append(element("path", { class: "marker", d: `M${x - 12} ${middle - 6}l10 6l-10 6z` }));
  if (isStop) box.append(element("circle", { class: "dot", cx: x + 2, cy: y + 2, r: 5 }));
}

function follow(box) {
  if (!box) return;
  const frame = byId("graph");
  const [a, b] = [frame.getBoundingClientRect(), box.getBoundingClientRect()];
  const margin = 60;
  if (b.top < a.top + margin || b.bottom > a.bottom - margin) {
    frame.scrollTop += (b.top + b.bottom) / 2 - (a.top + a.bottom) / 2;
  }
  if (b.left < a.left || b.right > a.right) {
    frame.scrollLeft += (b.left + b.right) / 2 - (a.left + a.right) / 2;
  }
}

// --------------------------------------------------------------------------------------- tensors

// One scale for all gradients, held over the whole log, and one for each value; both logs share them.
function scaleOf(arrays) {
  let [largest, smallest] = [0, Infinity];
  for (const { low, high, entries } of arrays) {
    if (!entries || Number.isNaN(low)) continue;
    largest = Math.max(largest, Math.abs(low), Math.abs(high));
    for (const end of [low, high]) if (end !== 0) smallest = Math.min(smallest, Math.abs(end));
  }
  const decades = largest ? Math.ceil(Math.log10(largest) - Math.log10(smallest)) + 2 : 2;
  return { largest, decades: Math.min(Math.max(decades, 3), 16) };
}
const gradientScale = scaleOf(logs.flatMap((one) => one.events.flatMap((event) =>
  ["upstream", "contribution", "before", "after"].map((n) => one.array(event[n])).filter(Boolean))));
const valueScales = new Map([...log.nodes.keys()].map((key) =>
  [key, scaleOf(logs.map((one) => one.array(one.nodes.get(key)?.value)).filter(Boolean))]));
const scaleFor = (map) => (map.role === "gradient" ? gradientScale : valueScales.get(map.id));

// The share of a scale, from −1 to 1; of what lies below a logarithmic one, null.
function share(x, { largest, decades }) {
  if (!largest || x === 0) return 0;
  if (!state.logarithmic) return Math.min(Math.max(x / largest, -1), 1);
  const place = 1 + Math.log10(Math.abs(x) / largest) / decades;
  return place <= 0 ? null : Math.sign(x) * Math.min(place, 1);
}

// What is shown at an event: its gradients, and the values that its rule reads.
function panelsOf(which, event) {
  const node = which.nodes.get(event.node);
  const receiver = which.nodes.get(event.target ?? event.node);
  const panels = [];
  const gradient = (id, title, index) => {
    if (index !== undefined) panels.push({ id, title, array: which.array(index), role: "gradient" });
  };
  const value = (key) => {
    const of = which.nodes.get(key);
    panels.push({ id: key, title: fill(words.value, of.label), array: which.array(of.value), role: "value" });
  };
  if (event.kind === "rule") {
    gradient("made", fill(words.contribution, receiver.label), event.contribution);
    gradient("G", fill(words.upstream, node.label), event.upstream);
    const [tree] = operandsOf(which, event);
    for (const key of mentioned(tree)) if (which.nodes.has(key)) value(key);
  } else if (event.kind === "unbroadcast") {
    gradient("before", fill(words.contribution, receiver.label), event.before);
    gradient("made", `${fill(words.contribution, receiver.label)}, ${words.summed}`, event.contribution);
  } else if (event.kind === "accumulate") {
    gradient("before", fill(words.before, receiver.label), event.before);
    gradient("made", fill(words.contribution, receiver.label), event.contribution);
    gradient("after", fill(words.after, receiver.label), event.after);
  } else {
    gradient("after", fill(words.gradient, receiver.label), event.after);
    value(event.node);
    if (event.kind === "enter") {
      for (const key of new Set(node.inputs)) if (typeof key === "string") value(key);
    }
  }
  return panels;
}

let maps = []; // those that are on the page

function showTensors(event) {
  const shown = state.comparing ? logs : [log];
  maps = shown.flatMap((which, number) =>
    panelsOf(which, which.events[state.step]).map((panel) => ({ ...panel, number })));
  if (state.comparing) { // the same tensor of both logs side by side
    const half = maps.length / 2;
    maps = maps.slice(0, half).flatMap((map, i) => [map, maps[half + i]]);
  }
  for (const map of maps) map.lit = new Set();
  choose(event);
  showSliders();
  showMaps();
  showLegend();
}

function showMaps() {
  const figures = maps.map(figure);
  const pairs = figures.filter((_, i) => i % 2 === 0)
    .map((one, i) => element("div", { class: "pair" }, one, figures[2 * i + 1]));
  const held = document.activeElement?.closest?.("figure")?.dataset;
  byId("maps").replaceChildren(...(state.comparing ? pairs : figures));
  if (held) {
    figures.find((one) => one.dataset.map === held.map && one.dataset.log === held.log)
      ?.querySelector("svg.map")?.focus();
  }
  for (const map of maps) if (map.rects) frameCells(map);
}

// The cell that the equation is written for: the one that was chosen here, else the largest.
function choose(event) {
  const isHere = state.chosen?.step === state.step;
  if (isHere) return;
  state.chosen = null;
  if (event.kind !== "rule" && event.kind !== "unbroadcast") return;
  const made = log.array(event.contribution);
  const values = made.values;
  if (!values?.length) return;
  const { rows, columns, first } = matrixOf(made);
  let best = first;
  for (let at = first; at < first + rows * columns; at++) {
    if (Math.abs(values[at]) > Math.abs(values[best]) || Number.isNaN(values[at])) best = at;
  }
  state.chosen = { step: state.step, id: "made", number: 0, flat: best };
}

function showSliders() {
  const lengths = [];
  for (const { array } of maps) {
    (array?.cells.slice(0, -2).reverse() ?? []).forEach((n, axis) => {
      lengths[axis] = Math.max(lengths[axis] ?? 1, n);
    });
  }
  const count = lengths.length;
  byId("sliders").replaceChildren(...lengths.map((n, axis) => [n, axis]).reverse()
    .filter(([n]) => n > 1)
    .map(([n, axis]) => {
      const at = Math.min(state.leading[axis] ?? 0, n - 1);
      const output = element("output", {}, `${at}`);
      const slider = element("input", { type: "range", min: 0, max: n - 1, value: at });
      slider.addEventListener("input", () => {
        state.leading[axis] = Number(slider.value);
        output.textContent = slider.value;
        showMaps();
      });
      return element("label", {}, fill(words.axis, count - 1 - axis), slider, output);
    }));
}

// Which matrix of an array the sliders show: the place of its first entry, and its sides.
function matrixOf(array) {
  const rows = array.cells.length > 1 ? array.cells.at(-2) : 1;
  const columns = array.cells.length ? array.cells.at(-1) : 1;
  const leading = array.cells.slice(0, -2);
  const index = leading.map((n, i) => Math.min(state.leading[leading.length - 1 - i] ?? 0, n - 1));
  return { rows, columns, first: flat(leading, index) * rows * columns };
}

function figure(map) {
  const { array, title, number } = map;
  const name = state.comparing ? element("b", {}, `${data.labels[number]}: `) : "";
  const about = array
    ? ` ${shapeText(array.shape)} ${array.raw.dtype.endsWith("f8") ? "" : array.raw.dtype.slice(1) + " "}${words.norm} ${brief(array.norm)}`
    : "";
  const caption = element("figcaption", {}, name, title, element("span", {}, about));
  const hint = (text) => element("figure", { "data-map": map.id }, caption, element("p", { class: "hint" }, text));
  if (!array) return hint(words["not kept"]);
  if (!size(array.shape)) return hint(words.empty);
  if (array.values === null) return hint(array.raw.left ? words["entries left out"] : words["entries not kept"]);
  map.readout = element("output", { class: "readout" });
  const parts = [caption, element("div", { class: "scroll" }, grid(map)), map.readout];
  if (array.pooled) parts.push(element("p", { class: "hint" }, fill(words.block, ...array.block)));
  const made = element("figure", { "data-map": map.id, "data-log": number }, ...parts);
  tellCell(map);
  return made;
}

const CELL = 15, SHORT = 10, LOW = 24, TOP = 14;

function grid(map) {
  const { array } = map;
  const { rows, columns, first } = matrixOf(array);
  const numbered = columns <= 8 && rows <= 12 && !array.pooled;
  const [wide, high] = numbered ? [68, LOW] : rows > 16 ? [CELL, SHORT] : [CELL, CELL];
  const digits = String(rows * array.block[0]).length;
  const [left, top] = array.cells.length ? [array.cells.length > 1 ? 8 + 6 * digits : 0, TOP] : [0, 0];
  const drawn = element("svg", {
    class: "map", tabindex: 0, role: "group", width: left + columns * wide, height: top + rows * high,
    "aria-label": `${map.title} ${shapeText(array.shape)}`,
  });
  const every = numbered ? 1 : 4;
  const tick = (x, y, n, anchor) => element("text", { class: "tick", x, y, "text-anchor": anchor }, String(n));
  for (let c = 0; top && c < columns; c += every) {
    drawn.append(tick(left + c * wide + wide / 2, top - 4, c * array.block[1], "middle"));
  }
  for (let r = 0; left && r < rows; r += every) {
    drawn.append(tick(left - 4, top + r * high + high / 2 + 3, r * array.block[0], "end"));
  }
  map.rects = new Map();
  map.drawn = drawn;
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const at = first + r * columns + c;
      drawn.append(...cell(map, at, left + c * wide, top + r * high, wide, high, numbered));
    }
  }
  for (const kind of ["pointermove", "pointerdown"]) {
    drawn.addEventListener(kind, (e) => point(map, e.target.dataset?.at));
  }
  drawn.addEventListener("keydown", (e) => walkCells(map, e, rows, columns, first));
  return drawn;
}

function cell(map, at, x, y, w, h, numbered) {
  const value = map.array.values[at];
  const level = Number.isFinite(value) ? share(value, scaleFor(map)) : value > 0 ? 1 : value < 0 ? -1 : 0;
  const end = level < 0 ? "negative" : "positive";
  const percent = Math.round(100 * Math.abs(level ?? 0));
  const colour = value === 0 || Number.isNaN(value) ? "var(--zero)"
    : `color-mix(in srgb, var(--${end}) ${percent}%, var(--zero))`;
  const rect = element("rect", { x, y, width: w, height: h, "data-at": at });
  rect.style.fill = colour;
  map.rects.set(at, rect);
  const made = [rect];
  if (value === 0) made.push(element("rect", { x, y, width: w, height: h, class: "hatch", fill: "url(#hatch)" }));
  if (!Number.isFinite(value)) {
    made.push(element("path", { class: "mark", d: `M${x + 2} ${y + 2}h${w - 4}v${h - 4}h${4 - w}z` }));
    if (Number.isNaN(value) && !numbered) {
      made.push(element("path", { class: "mark", d: `M${x + 4} ${y + 4}l${w - 8} ${h - 8}m0 ${8 - h}l${8 - w} ${h - 8}` }));
    }
  }
  if (level === null) made.push(element("path", { class: "mark clipped", d: `M${x + w / 2 - 3} ${y + h - 5}l3 3l3 -3` }));
  if (numbered || (!Number.isFinite(value) && !Number.isNaN(value))) {
    const text = element("text", { x: x + w / 2, y: y + h / 2 + 4 }, brief(value));
    text.style.fill = ink(end, percent);
    if (!numbered) text.setAttribute("class", "small");
    made.push(text);
  } else if (value < 0 && percent > 3) {
    const mark = element("path", { class: "mark", d: `M${x + w / 2 - 3} ${y + h / 2}h6` });
    mark.style.color = ink(end, percent);
    made.push(mark);
  }
  return made;
}

// Black or white, whichever has more contrast with so much of a colour, by the formula of WCAG 2.
function ink(end, percent) {
  const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  const key = `${end} ${percent} ${of("paper")}`;
  if (!inks.has(key)) {
    const [zero, full] = [channels(of("zero")), channels(of(end))];
    const mixed = zero.map((a, i) => a + (full[i] - a) * (percent / 100));
    const [r, g, b] = mixed.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    inks.set(key, (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff");
  }
  return inks.get(key);
}
const inks = new Map();

// The entries that an index of the cells stands for.
function cellName(array, at) {
  const index = unflat(array.cells, at);
  if (!array.pooled) return `[${index.join(", ")}]`;
  const from = array.cells.length - 2;
  return `[${index.map((i, axis) => {
    const block = axis < from ? 1 : array.block[axis - from] ?? array.block[1];
    return block === 1 ? i : `${i * block}:${Math.min((i + 1) * block, array.shape[axis])}`;
  }).join(", ")}]`;
}

function tellCell(map) {
  const isHere = state.chosen?.id === map.id && state.chosen.number === map.number;
  const at = isHere ? state.chosen.flat : map.lit.size === 1 ? [...map.lit][0] : null;
  map.readout.textContent = at === null ? ""
    : `${cellName(map.array, at)} = ${exact(map.array.values[at], map.array.raw.dtype)}`;
}

function point(map, at) {
  if (at === undefined) return;
  const chosen = { step: state.step, id: map.id, number: map.number, flat: Number(at) };
  if (JSON.stringify(chosen) === JSON.stringify(state.chosen)) return;
  state.chosen = chosen;
  showCell();
}

function walkCells(map, event, rows, columns, first) {
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  if (event.key === "Escape") { document.activeElement.blur(); event.stopPropagation(); return; }
  const move = moves[event.key];
  if (!move || event.shiftKey) return;
  event.preventDefault();
  event.stopPropagation();
  const isHere = state.chosen?.id === map.id && state.chosen.number === map.number;
  if (!isHere) { point(map, first); return; }
  const now = state.chosen.flat - first;
  const row = Math.min(Math.max(Math.floor(now / columns) + move[0], 0), rows - 1);
  const column = Math.min(Math.max((now % columns) + move[1], 0), columns - 1);
  point(map, first + row * columns + column);
}

// Lights the entries that the chosen one came from, and writes the equation with its numbers.
function showCell() {
  const event = log.events[state.step];
  const { chosen } = state;
  for (const map of maps) map.lit = new Set();
  showEquation(event);
  if (chosen && (event.kind === "accumulate" || event.kind === "unbroadcast")) same(chosen);
  for (const map of maps) { // the same entry of the other log
    if (chosen && map.id === chosen.id && map.number !== chosen.number) map.lit.add(chosen.flat);
  }
  for (const map of maps) {
    if (!map.rects) continue;
    frameCells(map);
    tellCell(map);
  }
  showCheck(event);
}

// Outlines above all cells, so that no neighbour hides them.
function frameCells(map) {
  const isHere = state.chosen?.id === map.id && state.chosen.number === map.number;
  const frame = (at, name) => {
    const rect = map.rects.get(at)?.cloneNode();
    if (!rect) return [];
    rect.removeAttribute("style");
    rect.removeAttribute("data-at");
    rect.setAttribute("class", name);
    return [rect];
  };
  for (const old of map.drawn.querySelectorAll(".lit, .chosen")) old.remove();
  map.drawn.append(...[...map.lit].flatMap((at) => frame(at, "lit")),
    ...(isHere ? frame(state.chosen.flat, "chosen") : []));
}

// Entry for entry: before + contribution = after; and what was summed when broadcasting is undone.
function same(chosen) {
  const from = maps.find((map) => map.id === chosen.id && map.number === chosen.number);
  if (!from?.array || from.array.pooled) return;
  for (const map of maps) {
    if (map.role !== "gradient" || !map.array || map.array.pooled || map.number !== chosen.number) continue;
    if (map.array.shape.join() === from.array.shape.join()) { map.lit.add(chosen.flat); continue; }
    const index = unflat(from.array.shape, chosen.flat);
    for (let at = 0; at < size(map.array.shape); at++) {
      const other = unflat(map.array.shape, at);
      const [big, small] = map.array.entries >= from.array.entries ? [other, index] : [index, other];
      const shape = big === other ? from.array.shape : map.array.shape;
      if (within(shape, big).join() === small.join()) map.lit.add(at);
    }
  }
}

// ----------------------------------------------------------------------------- equation and check

function showEquation(event) {
  const body = byId("equation-body");
  const node = log.nodes.get(event.node);
  const line = (text, kind) => element("p", { class: kind }, text);
  if (event.kind === "enter") {
    const forward = node.forward === node.label ? node.forward : `${node.label} = ${node.forward}`;
    body.replaceChildren(line(forward, "formula"));
    return;
  }
  const label = log.nodes.get(event.target ?? event.node).label;
  if (event.kind === "unbroadcast") {
    body.replaceChildren(line(fill(words["sum over"], label, event.axes.join(", ")), "formula"));
    return;
  }
  if (event.kind === "accumulate") {
    const text = event.before === undefined ? words["first part"] : words["next part"];
    body.replaceChildren(line(fill(text, label, ...event.part), "formula"), line(sumLine(event), "numbers"));
    return;
  }
  if (event.kind !== "rule") { body.replaceChildren(line(`∂L/∂${label}`, "formula")); return; }
  const rule = node.rules?.[event.position];
  if (!rule) { body.replaceChildren(line(words["no equation"], "hint")); return; }
  const [general, named] = rule;
  body.replaceChildren(
    ...(general && general !== named ? [line(general, "formula general")] : []),
    line(named, "formula"), line(numbersLine(event), "numbers"));
}

// The rule with the numbers of the chosen cell; lights what they come from.
function numbersLine(event) {
  const { chosen } = state;
  if (!log.array(event.contribution).values) return "";
  if (!chosen || chosen.id !== "made") return words.point;
  const which = logs[chosen.number];
  const made = which.array(which.events[state.step].contribution);
  const [tree, arrays] = operandsOf(which, which.events[state.step]);
  const value = made.values ? exact(made.values[chosen.flat], made.raw.dtype) : "";
  const left = `∂L/∂${which.nodes.get(event.target).label}${cellName(made, chosen.flat)}`;
  if (made.pooled || [...arrays.values()].some((array) => array?.pooled)) {
    return `${left} = ${value}   ${words["pooled operands"]}`;
  }
  const rule = compiled(tree, arrays);
  if (!rule) return `${left} = ${value}   ${words.opaque}`;
  const index = unflat(made.shape, chosen.flat);
  const lit = new Map(maps.filter((map) => map.number === chosen.number).map((map) => [map.id, map.lit]));
  rule.touch(within(rule.shape, index), lit);
  const text = rule.text(within(rule.shape, index)).replace(/^\((−[\d.e−∞]+)\)$/, "$1");
  return `${left} = ${text} = ${value}`;
}

function sumLine(event) {
  const { chosen } = state;
  if (event.kind !== "accumulate" || event.before === undefined || !chosen) return "";
  const which = logs[chosen.number];
  const one = which.events[state.step];
  const [before, made, after] = [one.before, one.contribution, one.after].map((i) => which.array(i));
  if (![before, made, after].every((array) => array.values && !array.pooled)) return "";
  const at = (array) => brief(array.values[chosen.flat]);
  return `${cellName(after, chosen.flat)}: ${at(before)} + ${at(made)} = ${exact(after.values[chosen.flat], after.raw.dtype)}`;
}

function showCheck(event) {
  const lines = [];
  const number = state.chosen?.number ?? 0;
  const one = logs[number].events[state.step];
  if (event.kind !== "rule" && event.kind !== "unbroadcast") lines.push(words["no check"]);
  else if (logs[number].events[state.step + 1]?.kind === "unbroadcast") lines.push(words["check next"]);
  else if (!one.verdict) lines.push(words.unchecked);
  else {
    lines.push(data.verdicts[number][state.step]);
    if (state.chosen?.id === "made" && one.verdict[2]) lines.push(...cellCheck(logs[number], one));
  }
  lines.push(...notesOf(isInvariant));
  byId("check-body").replaceChildren(...lines.map((text) => element("p", {}, text)));
}

function cellCheck(which, event) {
  const made = which.array(event.contribution);
  const [numeric, step] = event.verdict;
  const slopes = which.array(numeric);
  const index = unflat(made.cells, state.chosen.flat);
  if (made.pooled || !slopes.values) return [];
  const [rule, slope] = [made.values[state.chosen.flat], slopes.values[state.chosen.flat]];
  const name = `[${index.join(", ")}]`;
  if (Number.isNaN(slope)) return [fill(words["not sampled"], name, exact(rule, made.raw.dtype))];
  const error = Math.abs(rule - slope);
  const largest = Math.max(Math.abs(rule), Math.abs(slope));
  return [
    fill(words.cell, name, exact(rule, made.raw.dtype), exact(slope, "f8"), brief(number(step))),
    fill(words.errors, brief(error), brief(error === 0 ? 0 : error / largest)),
  ];
}

// ------------------------------------------------------------------------------ source and legend

function showSource(event) {
  const node = log.nodes.get(event.node);
  const lines = log.sources[node.file];
  if (!lines) {
    byId("source-body").replaceChildren(element("p", { class: "hint" }, words["no source"]));
    return;
  }
  const near = Object.keys(lines).map(Number).filter((n) => Math.abs(n - node.line) <= data.context);
  const rows = near.map((n) =>
    element("span", n === node.line ? { class: "lit", "aria-current": "true" } : {},
      element("i", {}, String(n)), lines[n] || " "));
  byId("source-body").replaceChildren(
    element("p", { class: "hint" }, `${node.file}:${node.line}`), element("pre", {}, ...rows));
}

function showLegend() {
  const items = [];
  if (!maps.some((map) => map.rects)) { byId("legend").replaceChildren(); return; }
  const kind = state.logarithmic ? words.log : words.linear;
  const { largest, decades } = gradientScale;
  const ends = state.logarithmic
    ? `±${brief(largest / 10 ** decades)} … ±${brief(largest)}` : `−${brief(largest)} … 0 … ${brief(largest)}`;
  items.push(element("span", {}, bar(), `${fill(words["gradients scale"], ends)} (${kind})`));
  if (maps.some((map) => map.role === "value" && map.array?.values)) {
    items.push(element("span", {}, words["values scale"]));
  }
  const seen = maps.flatMap((map) => (map.array?.values && map.rects ? [...map.rects.keys()].map((at) => [map, at]) : []));
  if (seen.some(([map, at]) => map.array.values[at] === 0)) {
    items.push(element("span", {}, swatch(element("rect", { width: 15, height: 15, fill: "url(#hatch)" })), words["exactly 0"]));
  }
  if (state.logarithmic && seen.some(([map, at]) => share(map.array.values[at], scaleFor(map)) === null && map.array.values[at] !== 0)) {
    items.push(element("span", {}, swatch(element("path", { class: "mark", d: "M4 8l3 3l3 -3" })), words.clipped));
  }
  byId("legend").replaceChildren(...items);
}

const swatch = (...marks) => element("svg", { class: "map", width: 15, height: 15 }, ...marks);
function bar() {
  const cells = [-100, -60, -30, 0, 30, 60, 100].map((percent, i) => {
    const rect = element("rect", { x: i * 9, width: 9, height: 10 });
    rect.style.fill = `color-mix(in srgb, var(--${percent < 0 ? "negative" : "positive"}) ${Math.abs(percent)}%, var(--zero))`;
    return rect;
  });
  return element("svg", { width: 63, height: 10, "aria-hidden": "true" }, ...cells);
}

// -------------------------------------------------------------------------------------- timeline

function readTimeline() {
  const count = log.events.length;
  const ticks = byId("ticks");
  ticks.setAttribute("viewBox", `0 0 ${count} 100`);
  const paths = {};
  let bands = "";
  let [start, isOdd] = [0, false];
  log.events.forEach((event, i) => {
    paths[event.kind] = `${paths[event.kind] ?? ""}M${i + 0.5} 100v${isStop(event) ? -30 : -16}`;
    if (isStop(event) || i === last) {
      if (isOdd) bands += `M${start} 0h${i - start}v100h${start - i}z`;
      [start, isOdd] = [i, !isOdd];
    }
  });
  const band = element("path", { class: "band", d: bands });
  band.style.fill = "var(--tint)";
  ticks.append(band, ...Object.entries(paths).map(([kind, d]) => element("path", { class: kind, d })));
  const norms = logs.map((one) => one.events.map((event) => Math.log10(one.shown(event).norm)));
  const finite = norms.flat().filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  norms.forEach((levels, number) => {
    let [d, isOn] = ["", false];
    levels.forEach((level, i) => {
      if (Number.isFinite(level)) {
        d += `${isOn ? "L" : "M"}${i + 0.5} ${(62 - 54 * (high > low ? (level - low) / (high - low) : 0.5)).toFixed(2)}`;
      }
      isOn = Number.isFinite(level);
    });
    const { events } = logs[number];
    const broken = events.map((event, i) =>
      (Number.isFinite(logs[number].shown(event).norm) ? "" : `M${i + 0.5} 2v14`)).join("");
    ticks.append(element("path", { class: number ? "line other" : "line", d }),
      element("path", { class: number ? "broken other" : "broken", d: broken }));
  });
  ticks.append(element("path", { class: "stop", id: "stops" }), element("path", { class: "cursor", id: "cursor" }));
  ticks.addEventListener("pointerdown", (e) => {
    const { left, width: wide } = ticks.getBoundingClientRect();
    goTo(Math.floor(((e.clientX - left) / wide) * count));
  });
  const slider = byId("timeline");
  slider.max = last;
  slider.addEventListener("input", () => goTo(Number(slider.value)));
}

function showTimeline() {
  byId("cursor").setAttribute("d", `M${state.step + 0.5} 0v100`);
  const stops = [...state.breakpoints].map((key) => log.complete.get(key)).filter((i) => i !== undefined);
  byId("stops").setAttribute("d", stops.map((i) => `M${i + 0.5} 66v.01`).join(""));
  byId("timeline").value = state.step;
  byId("timeline").setAttribute("aria-valuetext", data.sentences[state.step]);
  for (const line of byId("ticks").querySelectorAll(".other")) line.style.display = state.comparing ? "" : "none";
}

// ------------------------------------------------------------------------------ the whole page

function show() {
  if (!state.comparing && state.chosen?.number) state.chosen = null;
  const event = log.events[state.step];
  byId("count").replaceChildren(
    element("b", { class: event.kind }, words.kinds[event.kind]), ` ${fill(words.step, state.step, last)}`);
  byId("sentence").textContent = data.sentences[state.step];
  const notes = notesOf((kind) => !isInvariant(kind));
  if (state.comparing) notes.unshift(ratio(event));
  byId("notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
  showGraph(event);
  showTensors(event);
  showCell();
  showSource(event);
  showTimeline();
  showControls();
}

// What must hold whatever the numbers are; it stands with the check.
const isInvariant = (kind) => kind.endsWith("to 0");

function notesOf(test) {
  return logs.slice(0, state.comparing ? 2 : 1).flatMap((which, number) => {
    const { notes = [] } = which.events[state.step];
    const label = state.comparing ? `${data.labels[number]}: ` : "";
    return data.notes[number][state.step].filter((_, i) => test(notes[i][0]))
      .map((note) => label + note);
  });
}

function ratio() {
  const [one, other] = logs.map((which) => which.shown(which.events[state.step]));
  const parts = [[words["median row"], one.row, other.row], [words.norm, one.norm, other.norm]];
  return parts.map(([what, a, b]) =>
    fill(words.ratio, what, data.labels[0], brief(a), data.labels[1], brief(b), brief(a / b))).join("; ");
}

function showControls() {
  for (const id of ["first", "op-back", "back"]) byId(id).disabled = state.step === 0;
  for (const id of ["next", "op-next", "last"]) byId(id).disabled = state.step === last;
  const press = (id, on) => byId(id)?.setAttribute("aria-pressed", String(on));
  press("scale", state.logarithmic);
  press("compare", state.comparing);
  press("break", state.breakpoints.has(log.events[state.step].node));
  byId("resume").disabled = state.breakpoints.size === 0;
  const name = state.playing ? words.pause : words.play;
  byId("play").querySelector("path").setAttribute("d", state.playing ? "M5 2v12M11 2v12" : "M4 2l10 6l-10 6z");
  byId("play").title = name;
  byId("play").setAttribute("aria-label", name);
}

function goTo(step) {
  state.step = Math.min(Math.max(step, 0), last);
  try { // in a frame of a notebook there is no address of its own
    history.replaceState(null, "", `#step=${state.step}`);
  } catch { /* the step is then not in the address */ }
  show();
}

function stopBefore(step) {
  for (let i = step - 1; i > 0; i--) if (isStop(log.events[i])) return i;
  return 0;
}
function stopAfter(step) {
  for (let i = step + 1; i < last; i++) if (isStop(log.events[i])) return i;
  return last;
}
const isBreakpoint = (i) => state.breakpoints.has(log.events[i].node) && log.complete.get(log.events[i].node) === i;

function resume() {
  for (let i = state.step + 1; i <= last; i++) if (isBreakpoint(i)) return goTo(i);
  return goTo(last);
}

function toggleBreakpoint() {
  const key = log.events[state.step].node;
  if (!state.breakpoints.delete(key)) state.breakpoints.add(key);
  show();
}

function play() {
  clearInterval(state.playing);
  if (state.playing || state.step === last) {
    state.playing = 0;
    return showControls();
  }
  state.playing = setInterval(() => {
    goTo(state.step + 1);
    if (state.step === last || isBreakpoint(state.step)) play();
  }, 700);
  return showControls();
}

// To a tensor that this one was made of, or to one that was made of it.
function relative(isUp) {
  const event = log.events[state.step];
  const key = event.target ?? event.node;
  const found = isUp ? log.nodes.get(key).inputs
    : [...log.nodes.values()].filter((node) => node.inputs.includes(key)).map((node) => node.key);
  const next = found.find((other) => log.complete.has(other));
  if (next !== undefined) goTo(log.complete.get(next));
}

function search(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return;
  const fits = (i, test) => isStop(log.events[i]) && i > 0 && test(log.nodes.get(log.events[i].node));
  const order = [...log.events.keys()].map((i) => (i + state.step + 1) % log.events.length);
  const whole = (node) => [node.label, node.name, node.op].some((name) => name?.toLowerCase() === wanted);
  const part = (node) => [node.label, node.op].some((name) => name.toLowerCase().includes(wanted));
  const found = order.find((i) => fits(i, whole)) ?? order.find((i) => fits(i, part));
  if (found === undefined) byId("sentence").textContent = fill(words["not found"], text);
  else goTo(found);
}

const ACTIONS = {
  first: () => goTo(0),
  "op-back": () => goTo(stopBefore(state.step)),
  back: () => goTo(state.step - 1),
  play,
  next: () => goTo(state.step + 1),
  "op-next": () => goTo(stopAfter(state.step)),
  last: () => goTo(last),
  break: toggleBreakpoint,
  resume,
  scale() { state.logarithmic = !state.logarithmic; show(); },
  compare() { if (logs.length > 1) { state.comparing = !state.comparing; show(); } },
  search() { byId("search").focus(); byId("search").select(); },
  help() { byId("keys").open ? byId("keys").close() : byId("keys").showModal(); },
  fit: () => fit(),
  smaller: () => zoom(1 / 1.25),
  larger: () => zoom(1.25),
  up: () => relative(true),
  down: () => relative(false),
};
const KEYS = {
  ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play", b: "break",
  n: "resume", ArrowUp: "up", ArrowDown: "down", g: "scale", c: "compare", "/": "search", "?": "help",
  "-": "smaller", "+": "larger", "=": "larger", 0: "fit",
};

function listen() {
  for (const [id, action] of Object.entries(ACTIONS)) byId(id)?.addEventListener("click", action);
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") search(event.target.value);
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
    event.stopPropagation();
  });
  byId("keys").querySelector("button").addEventListener("click", () => byId("keys").close());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isButton = event.target.closest?.("button") && event.key === " ";
    const isSlider = event.target.type === "range" && /^(Arrow|Home|End|Page)/.test(event.key);
    if (isButton || isSlider || (byId("keys").open && event.key !== "?")) return;
    const name = event.shiftKey && event.key.startsWith("Arrow")
      ? { ArrowLeft: "op-back", ArrowRight: "op-next" }[event.key] : KEYS[event.key];
    if (!name) return;
    event.preventDefault();
    ACTIONS[name]();
  });
  addEventListener("hashchange", () => goTo(asked()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
}

const asked = () => Number(/step=(\d+)/.exec(location.hash)?.[1] ?? 0);

function start() {
  const hatch = element("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    element("rect", { width: 1.2, height: 5 }));
  hatch.firstChild.style.fill = "var(--quiet)";
  const head = element("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" },
    element("path", { d: "M0 0l8 4l-8 4z" }));
  head.firstChild.style.fill = "var(--negative)";
  const defs = element("svg", { width: 0, height: 0, "aria-hidden": "true" }, element("defs", {}, hatch, head));
  defs.style.position = "absolute";
  document.body.append(defs);
  const names = [...log.nodes.values()].flatMap((node) => [node.label, node.op]);
  byId("names").append(...[...new Set(names)].filter(Boolean).map((name) => element("option", { value: name })));
  readGraph();
  readTimeline();
  listen();
  fit(0.8, 1.5); // a small graph on a large screen, a large one as far as it can be read
  goTo(asked());
}

start();
