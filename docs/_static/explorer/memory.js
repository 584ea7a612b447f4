// Associative memories in the browser: the same energies, fields and updates as hopfield.memory, in plain arrays.
// States are Float64Array of N numbers, patterns an array of M of them.
"use strict";

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

function logSumExp(z) {
  const top = Math.max(...z);
  return top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

function softmax(z) {
  const top = Math.max(...z);
  const size = z.map((x) => Math.exp(x - top));
  const total = size.reduce((a, b) => a + b, 0);
  return size.map((x) => x / total);
}

// The separations: F(z) and its gradient. Scores are overlaps m = x·ξ/N for polynomials, β x·ξ/N for exponentials.
const MEMORIES = {
  classical: { label: "classical (degree 2)", spins: true, potential: (s) => s.map((m) => (m * m) / 2) },
  dense: { label: "dense, degree 3", spins: true, potential: (s) => s.map((m) => (m * m * m) / 3) },
  exponential: { label: "exponential", spins: true, beta: true, potential: (s, b) => s.map((m) => Math.exp(b * (m - 1)) / b) },
  modern: { label: "modern (attention)", spins: false, beta: true },
};

// Shares of the patterns in the read-out at a state.
function weights(name, patterns, state, beta) {
  const n = state.length;
  const m = patterns.map((x) => dot(x, state) / n);
  if (MEMORIES[name].beta) return softmax(m.map((x) => beta * x));
  const w = m.map((x) => Math.abs(name === "dense" ? x * x : x));
  const total = w.reduce((a, b) => a + b, 0);
  return w.map((x) => (total > 0 ? x / total : 0));
}

// Energy per neuron.
function energy(name, patterns, state, beta) {
  const n = state.length;
  const m = patterns.map((x) => dot(x, state) / n);
  if (name === "modern") return dot(state, state) / (2 * n) - logSumExp(m.map((x) => beta * x)) / beta;
  return -MEMORIES[name].potential(m, beta).reduce((a, b) => a + b, 0);
}

// One sweep: every spin once, in the order given, by the energy difference of the moment; a field of zero keeps the spin.
function sweep(name, patterns, state, beta, order) {
  const n = state.length;
  const next = Float64Array.from(state);
  if (name === "modern") {
    const p = weights(name, patterns, state, beta);
    for (let i = 0; i < n; i++) next[i] = patterns.reduce((sum, x, mu) => sum + p[mu] * x[i], 0);
    return next;
  }
  const potential = MEMORIES[name].potential;
  const m = patterns.map((x) => dot(x, next) / n);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  for (const i of order) {
    const rest = m.map((value, mu) => value - (patterns[mu][i] * next[i]) / n);
    const up = sum(potential(rest.map((value, mu) => value + patterns[mu][i] / n), beta));
    const down = sum(potential(rest.map((value, mu) => value - patterns[mu][i] / n), beta));
    const tie = Math.abs(up - down) <= 1e-12 * (Math.abs(up) + Math.abs(down));
    const spin = tie ? next[i] : Math.sign(up - down);
    if (spin !== next[i]) {
      next[i] = spin;
      for (let mu = 0; mu < m.length; mu++) m[mu] = rest[mu] + (patterns[mu][i] * spin) / n;
    }
  }
  return next;
}

// A stream of uniform numbers from a seed (mulberry32), so that a picture can be made again.
function uniform(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(n, random) {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

// Letters of SIDE × SIDE pixels.
const SIDE = 12;
const N = SIDE * SIDE;
const SHAPES = {
  H: ["X..X", "XXXX", "X..X", "X..X"], O: [".XX.", "X..X", "X..X", ".XX."], T: ["XXXX", ".XX.", ".XX.", ".XX."],
  X: ["X..X", ".XX.", ".XX.", "X..X"], L: ["X...", "X...", "X...", "XXXX"],
};
const drawn = (rows) => Float64Array.from({ length: N }, (_, i) => {
  const [r, c] = [Math.floor(i / SIDE), i % SIDE];
  return rows[Math.floor((r * 4) / SIDE)][Math.floor((c * 4) / SIDE)] === "X" ? 1 : -1;
});

// Load of M patterns of n neurons, as each memory counts it: M/n, M/n^2, ln M / n.
const load = (name, M, n) => (MEMORIES[name].beta ? Math.log(M) / n : M / (name === "dense" ? n * n : n));

if (typeof module !== "undefined") module.exports = { MEMORIES, N, SHAPES, drawn, energy, load, logSumExp, shuffled, softmax, sweep, uniform, weights };
