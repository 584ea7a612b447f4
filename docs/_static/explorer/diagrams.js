// Capacity and phase diagrams beside the explorer: what experiments measured (tables.js), drawn by plotly.
"use strict";

// Value and error of a curve [[x, y, error], ...] at x, on the line between its points; null outside of them.
function between(curve, x) {
  const k = curve.findIndex((point) => point[0] >= x);
  if (k < 0 || (k === 0 && curve[0][0] > x)) return null;
  if (k === 0) return curve[0].slice(1);
  const [a, b] = [curve[k - 1], curve[k]];
  const t = (x - a[0]) / (b[0] - a[0]);
  return [a[1] + t * (b[1] - a[1]), Math.hypot((1 - t) * a[2], t * b[2])];
}

// Entry of a table z[row][column] whose cells have the edges x and y; null outside of them.
function cell(x, y, z, at) {
  const place = (edges, value) => edges.findIndex((edge, k) => k + 1 < edges.length && edge <= value && value <= edges[k + 1]);
  const [column, row] = [place(x, at[0]), place(y, at[1])];
  return column < 0 || row < 0 ? null : z[row][column];
}

// The number of patterns at a load, as each memory counts it.
const patternsAt = (memory, load, n) =>
  Math.round(memory === "classical" ? load * n : memory === "dense" ? load * n * n : Math.exp(load * n));

async function plotting() {
  const bytes = Uint8Array.from(atob(PLOTLY), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--pst-color-${name}`).trim();
function drawing(where, traces, x, y, shapes = []) {
  const axis = (given) => ({ gridcolor: colour("border"), linecolor: colour("text-muted"), zeroline: false, automargin: true, ...given });
  Plotly.react(where, traces, {
    xaxis: axis(x), yaxis: axis(y), shapes, height: 340, margin: { l: 54, r: 14, t: 10, b: 44 }, showlegend: false, dragmode: false,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("text-base"), size: 13 },
  }, { displayModeBar: false, responsive: true });
}

// A slider from low to high.
function span(input, low, high, start) {
  [input.min, input.max, input.step] = [low, high, (high - low) / 200];
  input.value = start;
}

const upright = (x, dash) => ({
  type: "line", yref: "paper", y0: 0, y1: 1, x0: x, x1: x, line: { color: colour("text-base"), width: 1.5, dash },
});

// Share of queries that are retrieved against load, size by size.
function capacity(root) {
  const $ = (name) => root.querySelector(`[data-${name}]`);
  const here = {};

  function show() {
    const memory = $("memory").value;
    const { sizes, criterion, limit, theory, beta } = TABLES.capacity[memory];
    const all = Object.keys(sizes).map(Number).sort((a, b) => a - b);
    $("size").max = all.length - 1;
    const size = all[Math.min(Number($("size").value), all.length - 1)];
    const load = Number($("load").value);
    const traces = all.map((n) => {
      const look = n === size ? colour("primary") : colour("text-muted");
      const [x, y, error] = [0, 1, 2].map((k) => sizes[n].map((point) => point[k]));
      return {
        x, y, name: `N = ${n}`, mode: "lines+markers", opacity: n === size ? 1 : 0.45, line: { color: look },
        error_y: { array: error, color: look }, hovertemplate: `N = ${n}, load %{x}: %{y:.3f}<extra></extra>`,
      };
    });
    const half = theory[size];
    if (half) traces.push({
      x: [half], y: [0.5], mode: "markers", marker: { symbol: "circle-open", size: 12, color: colour("primary") },
      hovertemplate: `theory, N = ${size}: half at load %{x:.4f}<extra></extra>`,
    });
    const marks = [upright(load, "solid"), ...(limit ? [upright(limit, "dot")] : [])];
    const title = { classical: "load M/N", dense: "load M/N²" }[memory] ?? "load ln M / N";
    drawing($("plot"), traces, { title: { text: title } }, { title: { text: "share of the queries" }, range: [-0.03, 1.03] }, marks);
    const found = between(sizes[size], load);
    const told = found ? `${found[0].toFixed(2)} ± ${found[1].toFixed(2)} of the queries ${criterion}` : "not measured at this size";
    $("sizelabel").textContent = size;
    $("loadlabel").textContent = load.toFixed(3);
    const at = beta ? `, β = ${beta}` : "";
    const above = here.beta ? `, but at β = ${here.beta.toPrecision(2)}` : "";
    $("told").textContent = `${memory}${at}, N = ${size}, load ${load.toFixed(3)} (${patternsAt(memory, load, size)} patterns): ${told}.` +
      (half ? ` Theory at N = ${size}: half at load ${half.toFixed(4)} (ring).` : "") +
      (limit ? ` Theory for N → ∞${beta ? " at this β" : ""}: ${limit.toFixed(4)} (dotted).` : "") +
      (here.memory === memory ? ` The explorer above: load ${here.load.toPrecision(3)}${above}.` : "");
  }

  function choose() {
    const loads = Object.values(TABLES.capacity[$("memory").value].sizes).flat().map((point) => point[0]);
    const [low, high] = [Math.min(...loads), Math.max(...loads)];
    span($("load"), low, high, (low + high) / 2);
    $("size").value = 9;
    show();
  }

  Object.keys(TABLES.capacity).forEach((name) => $("memory").add(new Option(name, name)));
  document.addEventListener("explorer", (event) => {
    const changed = here.memory !== event.detail.memory;
    Object.assign(here, event.detail);
    if (changed) { $("memory").value = here.memory; choose(); } else show();
  });
  $("memory").addEventListener("input", choose);
  ["size", "load"].forEach((name) => $(name).addEventListener("input", show));
  choose();
  return show;
}

// Overlap over load and temperature, with the lines of theory.
function phases(root) {
  const $ = (name) => root.querySelector(`[data-${name}]`);

  function show() {
    const map = TABLES.phases[$("memory").value];
    const at = [Number($("load").value), map.log ? Math.exp(Number($("height").value)) : Number($("height").value)];
    const shades = {
      type: "heatmap", x: map.x, y: map.y, z: map.overlap, zmin: 0, zmax: 1, colorscale: "Cividis", hoverinfo: "skip",
      colorbar: { title: { text: "overlap m" }, thickness: 12 },
    };
    const lines = map.lines.map((line, k) => ({
      x: line.x, y: line.y, name: line.name, mode: "lines", line: { color: "white", width: 2, dash: ["solid", "dash", "dot"][k] },
      hovertemplate: `${line.name}<extra></extra>`,
    }));
    const mark = {
      x: [at[0]], y: [at[1]], mode: "markers", hoverinfo: "skip",
      marker: { symbol: "circle-open", size: 14, color: "#ffb000", line: { width: 3 } },
    };
    const range = [map.y[0], map.y.at(-1)].map((y) => (map.log ? Math.log10(y) : y));
    const y = { title: { text: map.log ? "inverse temperature β" : "temperature T" }, type: map.log ? "log" : "linear", range };
    drawing($("plot"), [shades, ...lines, mark], { title: { text: map.title }, range: [map.x[0], map.x.at(-1)] }, y);
    const height = `${map.log ? "β" : "T"} = ${at[1].toFixed(2)}`;
    $("loadlabel").textContent = at[0].toFixed(3);
    $("heightlabel").textContent = at[1].toFixed(2);
    $("told").textContent = `${$("memory").value}, N = ${map.neurons}, load ${at[0].toFixed(3)}, ${height}: ` +
      `overlap ${(cell(map.x, map.y, map.overlap, at) ?? NaN).toFixed(2)}, ${map.words[cell(map.x, map.y, map.regime, at)]}. ` +
      `Lines: ${map.lines.map((line, k) => `${["solid", "dashed", "dotted"][k]} ${line.name}`).join("; ")}.`;
  }

  function choose() {
    const map = TABLES.phases[$("memory").value];
    const [low, high] = [map.y[0], map.y.at(-1)].map((y) => (map.log ? Math.log(y) : y));
    span($("load"), map.x[0], map.x.at(-1), map.x[0] + 0.25 * (map.x.at(-1) - map.x[0]));
    span($("height"), low, high, low + (map.log ? 0.8 : 0.2) * (high - low));
    show();
  }

  Object.keys(TABLES.phases).forEach((name) => $("memory").add(new Option(name, name)));
  $("memory").addEventListener("input", choose);
  ["load", "height"].forEach((name) => $(name).addEventListener("input", show));
  choose();
  return show;
}

if (typeof document !== "undefined") document.addEventListener("DOMContentLoaded", async () => {
  await plotting();
  const drawn = [capacity(document.querySelector(".capacity")), phases(document.querySelector(".phases"))];
  new MutationObserver(() => drawn.forEach((show) => show())).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  document.documentElement.dataset.diagrams = "ready";
});

if (typeof module !== "undefined") module.exports = { between, cell, patternsAt };
