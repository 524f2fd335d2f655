// The page of steps. It knows two things: the log, in which nothing changes, and the state, which is
// where the reader stands. `show` draws the one as the other says; keys and buttons change the state.
// Whatever a log says is put on the page as text, never as markup.
"use strict";

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
    const size = Math.abs(x);
    text = size < 1e-4 || size >= 999.5 ? x.toExponential(2) : x.toPrecision(3);
    text = text.replace(/(\.\d*?)0+(?=$|e)/, "$1").replace(/\.(?=$|e)/, "").replace("e+", "e");
  }
  return text.replace(/-/g, "−");
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

// ------------------------------------------------------------------------------ rules with numbers

// A rule, as nested lists, becomes an object that knows of one entry of the result its value, what
// it reads as, and which entries of the operands it is made of. Null for what is not computed entry
// by entry.
const ONE = {
  negative: (x) => -x, exp: Math.exp, log: Math.log, sqrt: Math.sqrt, abs: Math.abs,
  sign: Math.sign, sin: Math.sin, cos: Math.cos, tanh: Math.tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};
const TWO = {
  add: ["+", 1, (a, b) => a + b], subtract: ["−", 1, (a, b) => a - b],
  multiply: ["·", 3, (a, b) => a * b], times: ["·", 3, (a, b) => a * b],
  divide: ["/", 3, (a, b) => a / b], divide_or_zero: ["/", 3, (a, b) => (b === 0 ? 0 : a / b)],
  power: ["^", 5, (a, b) => a ** b],
  equal: ["=", 0, (a, b) => +(a === b)], not_equal: ["≠", 0, (a, b) => +(a !== b)],
  less: ["<", 0, (a, b) => +(a < b)], less_equal: ["≤", 0, (a, b) => +(a <= b)],
  greater: [">", 0, (a, b) => +(a > b)], greater_equal: ["≥", 0, (a, b) => +(a >= b)],
};
const TIGHTEST = 9;
const MOST_TERMS = 6;

function broadcast(...shapes) {
  const ndim = Math.max(...shapes.map((s) => s.length));
  return Array.from({ length: ndim }, (_, i) =>
    Math.max(...shapes.map((s) => s[s.length - ndim + i] ?? 1)));
}
const within = (shape, index) =>
  shape.map((n, i) => (n === 1 ? 0 : index[index.length - shape.length + i]));
const flat = (shape, index) => index.reduce((sum, i, axis) => sum * shape[axis] + i, 0);
function unflat(shape, at) {
  const index = new Array(shape.length);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = at % shape[axis];
    at = Math.floor(at / shape[axis]);
  }
  return index;
}
const listOf = (x) => (Array.isArray(x) && x[0] === "tuple" ? x.slice(2) : x);
const fenced = (part, index, binds) =>
  part.binds < binds ? `(${part.text(index)})` : part.text(index);

function compiled(tree, operands) {
  if (typeof tree === "number" || typeof tree === "boolean") return constant(Number(tree));
  if (typeof tree === "string") return operand(operands.get(tree), tree);
  if (!Array.isArray(tree) || typeof tree[0] !== "string") return null;
  const [op, options, ...given] = tree;
  const shape = options.shape?.[2];
  const parts = given.map((part) => compiled(part, operands));
  if (!parts.length || parts.includes(null)) return null;
  const [x, y, z] = parts;
  if (op in TWO) return pairwise(...TWO[op], x, y);
  if (op in ONE) return single(op, ONE[op], x);
  if (op === "clip" && typeof options.min === "number" && typeof options.max === "number") {
    return single("clip", (v) => Math.min(Math.max(v, options.min), options.max), x);
  }
  if (op === "where") return either(x, y, z);
  if (op === "matmul") return product(x, y);
  if (op === "sum" || op === "mean") return reduced(op, x, options);
  if (op === "softmax") return soft(x, options.axis);
  if (op === "spread") return moved(shape, x, spreading(shape, x.shape, options.axis));
  if (op === "reshape") return moved(shape, x, (i) => unflat(x.shape, flat(shape, i)));
  const axes = order(op, options, x.shape.length);
  if (axes) {
    const inverse = axes.map((_, axis) => axes.indexOf(axis));
    return moved(axes.map((a) => x.shape[a]), x, (i) => inverse.map((a) => i[a]));
  }
  const places = op === "getitem" || op === "scatter_add"
    ? basic(options.index, op === "getitem" ? x.shape : shape) : null;
  if (!places) return null;
  return op === "getitem" ? moved(places.shape, x, places.inner) : scattered(shape, x, places);
}

const constant = (value) => ({
  shape: [], binds: value < 0 ? 4 : TIGHTEST,
  at: () => value, text: () => brief(value), touch() {},
});

function operand(array, name) {
  if (!array || array.values === null || array.pooled) return null;
  const { shape, values } = array;
  const at = (index) => values[flat(shape, within(shape, index))];
  return {
    shape, at,
    get binds() { return TIGHTEST; },
    text: (index) => (at(index) < 0 ? `(${brief(at(index))})` : brief(at(index))),
    touch: (index, lit) => lit.get(name)?.add(flat(shape, within(shape, index))),
  };
}

function pairwise(sign, binds, f, x, y) {
  if (!y) return null;
  return {
    shape: broadcast(x.shape, y.shape), binds,
    at: (i) => f(x.at(i), y.at(i)),
    text: (i) => `${fenced(x, i, binds)} ${sign} ${fenced(y, i, binds + 1)}`,
    touch(i, lit) { x.touch(i, lit); y.touch(i, lit); },
  };
}

const single = (op, f, x) => ({
  shape: x.shape, binds: op === "negative" ? 4 : TIGHTEST,
  at: (i) => f(x.at(i)),
  text: (i) => (op === "negative" ? `−${fenced(x, i, 4)}` : `${op}(${x.text(i)})`),
  touch(i, lit) { x.touch(i, lit); },
});

const either = (x, y, z) => ({
  shape: broadcast(x.shape, y.shape, z.shape), binds: TIGHTEST,
  at: (i) => (x.at(i) ? y.at(i) : z.at(i)),
  text: (i) => (x.at(i) ? y.text(i) : z.text(i)),
  touch(i, lit) { x.touch(i, lit); (x.at(i) ? y : z).touch(i, lit); },
});

const moved = (shape, x, origin) => ({
  shape, get binds() { return x.binds; },
  at: (i) => x.at(origin(within(shape, i))),
  text: (i) => x.text(origin(within(shape, i))),
  touch(i, lit) { x.touch(origin(within(shape, i)), lit); },
});

// Many terms: the first of them, and how many there are.
function total(indices, term) {
  const shown = indices.length > MOST_TERMS ? indices.slice(0, 3) : indices;
  const rest = shown.length < indices.length ? [fill(words.terms, indices.length)] : [];
  return [...shown.map(term), ...rest].join(" + ") || "0";
}

function product(x, y) {
  if (x.shape.length < 2 || y.shape.length < 2) return null;
  const [rows, columns, terms] = [x.shape.at(-2), y.shape.at(-1), x.shape.at(-1)];
  const leading = broadcast(x.shape.slice(0, -2), y.shape.slice(0, -2));
  const all = Array.from({ length: terms }, (_, k) => k);
  const left = (i, k) => [...i.slice(0, -2), i.at(-2), k];
  const right = (i, k) => [...i.slice(0, -2), k, i.at(-1)];
  return {
    shape: [...leading, rows, columns], binds: 1,
    at: (i) => all.reduce((sum, k) => sum + x.at(left(i, k)) * y.at(right(i, k)), 0),
    text: (i) => total(all, (k) => `${fenced(x, left(i, k), 3)} · ${fenced(y, right(i, k), 4)}`),
    touch(i, lit) { for (const k of all) { x.touch(left(i, k), lit); y.touch(right(i, k), lit); } },
  };
}

// The indices that are added up for one entry of a sum.
function reduced(op, x, options) {
  const axis = listOf(options.axis ?? null);
  const axes = (axis === null ? x.shape.map((_, i) => i) : [axis].flat())
    .map((a) => (a + x.shape.length) % x.shape.length);
  const keep = options.keepdims === true;
  const shape = x.shape.map((n, i) => (axes.includes(i) ? 1 : n))
    .filter((_, i) => keep || !axes.includes(i));
  const inner = axes.map((a) => x.shape[a]);
  const terms = (index) => Array.from({ length: size(inner) }, (_, k) => {
    const within_ = unflat(inner, k);
    let next = 0;
    return x.shape.map((_, i) => {
      if (axes.includes(i)) { if (keep) next++; return within_[axes.indexOf(i)]; }
      return index[next++];
    });
  });
  const count = size(inner);
  const sum = (i) => terms(within(shape, i)).reduce((s, t) => s + x.at(t), 0);
  return {
    shape, binds: op === "mean" ? 3 : 1,
    at: (i) => (op === "mean" ? sum(i) / count : sum(i)),
    text(i) {
      const text = total(terms(within(shape, i)), (t) => fenced(x, t, 2));
      return op === "mean" ? `(${text}) / ${count}` : text;
    },
    touch(i, lit) { for (const t of terms(within(shape, i))) x.touch(t, lit); },
  };
}

function soft(x, axis) {
  const exponent = single("exp", Math.exp, x);
  const sums = reduced("sum", exponent, { axis, keepdims: true });
  const largest = (i) => { // as the op does it, so that nothing overflows
    const row = [];
    reduced("sum", { ...x, touch: (t) => row.push(x.at(t)) }, { axis, keepdims: true })
      .touch(i, null);
    return Math.max(...row);
  };
  return {
    shape: x.shape, binds: TIGHTEST,
    at(i) {
      const m = largest(i);
      const shifted = single("exp", (v) => Math.exp(v - m), x);
      return shifted.at(i) / reduced("sum", shifted, { axis, keepdims: true }).at(i);
    },
    text(i) { return brief(this.at(i)); },
    touch(i, lit) { sums.touch(i, lit); },
  };
}

// Where an entry of what was spread over some axes comes from.
function spreading(shape, small, axis) {
  const given = listOf(axis ?? null);
  const axes = (given === null ? shape.map((_, i) => i) : [given].flat())
    .map((a) => (a + shape.length) % shape.length);
  if (small.length === shape.length) return (i) => i.map((v, a) => (axes.includes(a) ? 0 : v));
  return (i) => i.filter((_, a) => !axes.includes(a));
}

function order(op, options, ndim) {
  const axes = Array.from({ length: ndim }, (_, i) => i);
  const swap = (a, b) => { [axes[a], axes[b]] = [axes[b], axes[a]]; return axes; };
  if (op === "matrix_transpose" && ndim > 1) return swap(ndim - 2, ndim - 1);
  if (op === "swapaxes") return swap((options.axis1 + ndim) % ndim, (options.axis2 + ndim) % ndim);
  if (op !== "transpose") return null;
  const given = listOf(options.axes ?? null);
  return given === null ? axes.reverse() : given.map((a) => (a + ndim) % ndim);
}

// An index of whole numbers, slices, None and …: the shape that it selects, and from where.
function basic(index, shape) {
  let items = [listOf(index)].flat();
  if (Array.isArray(index) && index[0] !== "tuple") items = [index];
  const isSlice = (x) => Array.isArray(x) && x[0] === "slice";
  const isRest = (x) => Array.isArray(x) && x[0] === "ellipsis";
  if (!items.every((x) => x === null || Number.isInteger(x) || isSlice(x) || isRest(x))) return null;
  const used = items.filter((x) => x !== null && !isRest(x)).length;
  const whole = Array.from({ length: shape.length - used }, () => ["slice", {}, null, null, null]);
  const dots = items.findIndex(isRest);
  items = dots < 0 ? [...items, ...whole] : [...items.slice(0, dots), ...whole, ...items.slice(dots + 1)];
  const picks = []; // of each axis of the whole: a fixed place, or start and step
  const selected = [];
  for (const item of items) {
    if (item === null) { selected.push(1); picks.push(null); continue; }
    const n = shape[picks.filter((p) => p !== null).length];
    if (Number.isInteger(item)) { picks.push({ fixed: (item + n) % n }); continue; }
    const step = item[4] ?? 1;
    const clamp = (v, low, high) => Math.min(Math.max(v < 0 ? v + n : v, low), high);
    const start = item[2] === null ? (step > 0 ? 0 : n - 1) : clamp(item[2], step > 0 ? 0 : -1, step > 0 ? n : n - 1);
    const stop = item[3] === null ? (step > 0 ? n : -1) : clamp(item[3], step > 0 ? 0 : -1, step > 0 ? n : n - 1);
    const count = Math.max(0, Math.ceil((stop - start) / step));
    picks.push({ start, step, count, axis: selected.length });
    selected.push(count);
  }
  const axes = picks.filter((p) => p !== null);
  return {
    shape: selected,
    inner: (i) => axes.map((p) => p.fixed ?? p.start + p.step * i[p.axis]),
    outer(i) { // null where nothing was selected
      const found = selected.map(() => 0);
      for (const [a, p] of axes.entries()) {
        if (p.fixed !== undefined) { if (i[a] !== p.fixed) return null; continue; }
        const k = (i[a] - p.start) / p.step;
        if (!Number.isInteger(k) || k < 0 || k >= p.count) return null;
        found[p.axis] = k;
      }
      return found;
    },
  };
}

const scattered = (shape, x, places) => ({
  shape, binds: TIGHTEST,
  at(i) { const from = places.outer(i); return from ? x.at(from) : 0; },
  text(i) { const from = places.outer(i); return from ? x.text(from) : "0"; },
  touch(i, lit) { const from = places.outer(i); if (from) x.touch(from, lit); },
});

// The keys of the tensors that a rule mentions, in order.
function mentioned(tree, found = []) {
  if (typeof tree === "string") { if (!found.includes(tree)) found.push(tree); }
  else if (Array.isArray(tree)) {
    if (typeof tree[0] === "string" && tree[0] !== "opaque") {
      Object.values(tree[1] ?? {}).forEach((x) => mentioned(x, found));
      tree.slice(2).forEach((x) => mentioned(x, found));
    }
  }
  return found;
}

// What the rule of an event reads: by key, the upstream as G.
function operandsOf(which, event) {
  const tree = which.nodes.get(event.node).rules?.[event.position]?.[2] ?? null;
  const arrays = new Map();
  for (const key of mentioned(tree)) {
    if (key === "G") arrays.set("G", which.array(event.upstream));
    else if (which.nodes.has(key)) arrays.set(key, which.array(which.nodes.get(key).value));
  }
  return [tree, arrays];
}

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

function readGraph() {
  for (const box of byId("graph").querySelectorAll(".node")) {
    const key = box.querySelector("title").textContent;
    const texts = [...box.querySelectorAll("text")];
    const line = texts.find((text) => text.textContent.trim() === data.room) ?? null;
    if (line) line.textContent = "";
    // An engine that lacks the reader's fonts has measured them wrong.
    const { x, width: wide } = box.getBBox();
    for (const text of [line, line ? texts.at(-2) : texts.at(-1)]) {
      text?.setAttribute("x", x + wide / 2);
      text?.setAttribute("text-anchor", "middle");
    }
    box.querySelector("title").remove(); // it is the key; the pointer finds the other one
    boxes.set(key, { box, line });
    box.addEventListener("click", () => {
      if (log.complete.has(key)) goTo(log.complete.get(key));
    });
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
const width = (norm) => (norm > 0 ? 1 + 0.42 * Math.min(Math.max(Math.log10(norm) + 8, 0), 14) : 1);

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
    if (isPassed) grown.style.strokeWidth = width(passed[1].norm);
  }
  follow(boxes.get(event.target ?? event.node)?.box);
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
  if (!largest) return 0;
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
  byId("maps").replaceChildren(...(state.comparing ? pairs : figures));
  for (const map of maps) if (map.rects) frameCells(map);
}

// The cell that the equation is written for: the one that was chosen here, else the largest.
function choose(event) {
  const isHere = state.chosen?.step === state.step;
  if (isHere) return;
  state.chosen = null;
  if (event.kind !== "rule") return;
  const made = log.array(event.contribution);
  const values = made.values;
  if (!values?.length) return;
  let best = 0;
  values.forEach((x, i) => { if (Math.abs(x) > Math.abs(values[best]) || Number.isNaN(x)) best = i; });
  state.chosen = { step: state.step, id: "made", number: 0, flat: best };
  const leading = unflat(made.cells, best).slice(0, -2).reverse();
  leading.forEach((at, axis) => { state.leading[axis] = at; });
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

const CELL = 15, SHORT = 10, LOW = 24, LEFT = 22, TOP = 14;

function grid(map) {
  const { array } = map;
  const { rows, columns, first } = matrixOf(array);
  const numbered = columns <= 8 && rows <= 12 && !array.pooled;
  const [wide, high] = numbered ? [62, LOW] : rows > 16 ? [CELL, SHORT] : [CELL, CELL];
  const [left, top] = array.cells.length ? [array.cells.length > 1 ? LEFT : 0, TOP] : [0, 0];
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
  drawn.addEventListener("pointermove", (e) => point(map, e.target.dataset?.at));
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
  const now = isHere ? state.chosen.flat - first : 0;
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
  if (chosen && chosen.id !== "made" && chosen.id !== "G") {
    for (const map of maps) if (map.number !== chosen.number && map.id === chosen.id) map.lit.add(chosen.flat);
  } else if (chosen && event.kind !== "rule") {
    same(chosen);
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
  return `${left} = ${rule.text(within(rule.shape, index))} = ${value}`;
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
  if (event.kind !== "rule") lines.push(words["no check"]);
  else if (!one.verdict) lines.push(words.unchecked);
  else {
    lines.push(data.verdicts[number][state.step]);
    if (state.chosen?.id === "made" && one.verdict[2]) lines.push(...cellCheck(logs[number], one));
  }
  byId("check-body").replaceChildren(...lines.map((text) => element("p", {}, text)));
}

function cellCheck(which, event) {
  const made = which.array(event.contribution);
  const [numeric, step] = event.verdict;
  const slopes = which.array(numeric);
  const index = unflat(made.cells, state.chosen.flat);
  // Where broadcasting is undone afterwards, what was checked is the sum.
  if (made.pooled || !slopes.values || slopes.shape.join() !== made.shape.join()) return [];
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
  const near = Object.keys(lines).map(Number).filter((n) => Math.abs(n - node.line) <= 5);
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
    const line = element("path", { class: number ? "line other" : "line", d });
    ticks.append(line);
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
  const event = log.events[state.step];
  byId("count").replaceChildren(
    element("b", { class: event.kind }, words.kinds[event.kind]), ` ${fill(words.step, state.step, last)}`);
  byId("sentence").textContent = data.sentences[state.step];
  const notes = logs.slice(0, state.comparing ? 2 : 1).flatMap((_, number) =>
    data.notes[number][state.step].map((note) => (state.comparing ? `${data.labels[number]}: ${note}` : note)));
  if (state.comparing) notes.unshift(ratio(event));
  byId("notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
  showGraph(event);
  showTensors(event);
  showCell();
  showSource(event);
  showTimeline();
  showControls();
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
  smaller: () => zoom(1 / 1.25),
  larger: () => zoom(1.25),
  up: () => relative(true),
  down: () => relative(false),
};
const KEYS = {
  ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play", b: "break",
  n: "resume", ArrowUp: "up", ArrowDown: "down", g: "scale", c: "compare", "/": "search", "?": "help",
  "-": "smaller", "+": "larger", "=": "larger",
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
    if (isButton || event.target.type === "range" || (byId("keys").open && event.key !== "?")) return;
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
  goTo(asked());
}

start();
