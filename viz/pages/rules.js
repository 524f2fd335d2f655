// Rules with numbers: what the rule of an event computes at one entry of its contribution, how that
// reads, and which entries of the operands it is made of. Nothing here touches the page. The writing
// of numbers (`brief`, `fill`) and the words are those of `step.js`, which stands behind this.
"use strict";

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
  if (op === "one_hot") return oneHot(compiled(given[0], operands), given[1][2]);
  if (op === "divisor") return divisor(operands.get(given[0]), given[1], given[2]?.[1]?.text);
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
  if (op === "flip") return flipped(x, options.axis);
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
    text: (i) => `${fenced(x, i, binds + (sign === "^"))} ${sign} ${fenced(y, i, binds + 1)}`,
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
  text: (i) => fenced(x.at(i) ? y : z, i, TIGHTEST),
  touch(i, lit) { x.touch(i, lit); (x.at(i) ? y : z).touch(i, lit); },
});

const moved = (shape, x, origin) => ({
  shape, get binds() { return x.binds; },
  at: (i) => x.at(origin(within(shape, i))),
  text: (i) => x.text(origin(within(shape, i))),
  touch(i, lit) { x.touch(origin(within(shape, i)), lit); },
});

function flipped(x, axis) {
  const given = listOf(axis ?? null);
  const axes = (given === null ? x.shape.map((_, i) => i) : [given].flat())
    .map((a) => (a + x.shape.length) % x.shape.length);
  return moved(x.shape, x, (i) => i.map((v, a) => (axes.includes(a) ? x.shape[a] - 1 - v : v)));
}

// What only cross_entropy has: 1 at the class of the target, and how many targets count.
function oneHot(targets, shape) {
  if (!targets) return null;
  const at = (i) => +(targets.at(i.slice(0, -1)) === i.at(-1));
  return { shape, binds: TIGHTEST, at, text: (i) => String(at(i)),
    touch(i, lit) { targets.touch(i.slice(0, -1), lit); } };
}
function divisor(targets, ignored, reduction) {
  if (!targets?.values || targets.pooled) return null;
  const count = [...targets.values].filter((target) => target !== ignored).length;
  return constant(reduction === "mean" ? Math.max(count, 1) : 1);
}

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
  text(i) { const from = places.outer(i); return from ? fenced(x, from, TIGHTEST) : "0"; },
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
