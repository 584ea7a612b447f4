// The explorer's page: a canvas to draw on, the stored pattern beside it, bars of weights, energy by step.
"use strict";

function explorer(root) {
  const $ = (name) => root.querySelector(`[data-${name}]`);
  const letters = Object.keys(SHAPES);
  const own = []; // patterns that were drawn
  const now = { state: null, steps: [], cursor: 0, paint: 0 };
  let random = uniform(1);

  const patterns = () => {
    const count = Number($("patterns").value);
    const other = uniform(7);
    const rest = Array.from({ length: Math.max(0, count - letters.length) }, () =>
      Float64Array.from({ length: N }, () => (other() < 0.5 ? -1 : 1)));
    return [...own, ...letters.slice(0, count).map((name) => drawn(SHAPES[name])), ...rest];
  };
  const name = (mu) => (mu < own.length ? `drawn ${mu + 1}` : letters[mu - own.length] ?? `pattern ${mu + 1}`);
  const target = (stored) => Math.max(0, Math.min(Number($("target").value), stored.length - 1));
  const choice = () => [$("memory").value, patterns(), Number($("beta").value)];

  function paint(canvas, state) {
    const context = canvas.getContext("2d");
    const size = canvas.width / SIDE;
    state.forEach((x, i) => {
      const level = Math.round(127.5 * (1 - Math.max(-1, Math.min(1, x))));
      context.fillStyle = `rgb(${level},${level},${level})`;
      context.fillRect((i % SIDE) * size, Math.floor(i / SIDE) * size, size, size);
    });
    if (canvas !== document.activeElement) return;
    context.strokeStyle = "#d55e00";
    context.lineWidth = 3;
    context.strokeRect((now.cursor % SIDE) * size + 2, Math.floor(now.cursor / SIDE) * size + 2, size - 4, size - 4);
  }

  function bars(p, aim) {
    $("bars").replaceChildren(...p.map((x, mu) => {
      const bar = document.createElement("span");
      bar.style.height = `${Math.max(1, 100 * x)}%`;
      bar.className = mu === aim ? "target" : "";
      bar.title = `${name(mu)}: ${x.toFixed(3)}`;
      return bar;
    }));
  }

  function line(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const x = (k) => 10 + (280 * k) / Math.max(1, values.length - 1);
    const y = (e) => 70 - (60 * (e - low)) / (high - low || 1);
    $("line").setAttribute("points", values.map((e, k) => `${x(k).toFixed(1)},${y(e).toFixed(1)}`).join(" "));
  }

  function show() {
    const [memory, stored, beta] = choice();
    const aim = target(stored);
    paint($("state"), now.state);
    paint($("pattern"), stored[aim]);
    const p = weights(memory, stored, now.state, beta);
    const overlap = stored[aim].reduce((sum, x, i) => sum + x * now.state[i], 0) / N;
    const entropy = -p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0);
    const place = load(memory, stored.length, N);
    $("told").textContent =
      `step ${now.steps.length - 1}: overlap ${overlap.toFixed(3)}, energy per neuron ${energy(memory, stored, now.state, beta).toFixed(4)}, ` +
      `effective patterns ${Math.exp(entropy).toFixed(2)} of ${stored.length}, load ${place.toPrecision(3)}`;
    bars(p, aim);
    line(now.steps.map((x) => energy(memory, stored, x, beta)));
    $("betalabel").textContent = beta;
    $("patternslabel").textContent = stored.length;
    $("noiselabel").textContent = `${Math.round(100 * Number($("noise").value))} %`;
    $("beta").disabled = !MEMORIES[memory].beta;
    document.dispatchEvent(new CustomEvent("explorer", { detail: { memory, load: place, beta: MEMORIES[memory].beta ? beta / N : null } }));
  }

  function restart(state) {
    const stored = patterns();
    const share = Number($("noise").value);
    now.state = state ?? stored[target(stored)].map((x) => (random() < share ? -x : x));
    now.steps = [now.state];
    show();
  }

  function step() {
    const [memory, stored, beta] = choice();
    now.state = sweep(memory, stored, now.state, beta, shuffled(N, random));
    now.steps.push(now.state);
    show();
  }

  function colour(place, value) {
    const next = Float64Array.from(now.state, (x) => (x >= 0 ? 1 : -1));
    next[place] = value ?? -next[place];
    restart(next);
  }

  // What is drawn and the letters that are stored can be asked for; where the chosen one is not, the first is.
  function targets(chosen) {
    const count = Math.min(patterns().length, own.length + letters.length);
    $("target").replaceChildren(...Array.from({ length: count }, (_, mu) => new Option(name(mu), mu)));
    $("target").value = chosen < count ? chosen : 0;
  }

  // A finger or a mouse draws in the colour that its first pixel got.
  function touched(event) {
    if (event.type === "pointermove" && !event.buttons) return;
    const box = $("state").getBoundingClientRect();
    const at = (offset, length) => Math.max(0, Math.min(SIDE - 1, Math.floor((offset / length) * SIDE)));
    const place = at(event.clientY - box.top, box.height) * SIDE + at(event.clientX - box.left, box.width);
    if (event.type === "pointerdown") now.paint = now.state[place] >= 0 ? -1 : 1;
    now.cursor = place;
    if (event.type === "pointerdown" || Math.sign(now.state[place]) !== now.paint) colour(place, now.paint);
  }

  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function typed(event) {
    const move = MOVES[event.key];
    if (!move && event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    if (!move) return colour(now.cursor);
    const [row, column] = [Math.floor(now.cursor / SIDE) + move[0], (now.cursor % SIDE) + move[1]];
    if (row >= 0 && row < SIDE && column >= 0 && column < SIDE) now.cursor = row * SIDE + column;
    show();
  }

  Object.entries(MEMORIES).forEach(([key, memory]) => $("memory").add(new Option(memory.label, key)));
  targets(0);
  $("target").addEventListener("change", () => restart());
  $("patterns").addEventListener("input", () => targets(Number($("target").value)));
  ["memory", "patterns", "noise", "beta"].forEach((key) => $(key).addEventListener("input", () => restart()));
  $("again").addEventListener("click", () => restart());
  $("clear").addEventListener("click", () => restart(new Float64Array(N).fill(-1)));
  $("store").addEventListener("click", () => {
    own.unshift(Float64Array.from(now.state, (x) => (x >= 0 ? 1 : -1)));
    targets(0);
    restart();
  });
  $("step").addEventListener("click", step);
  $("run").addEventListener("click", () => { for (let k = 0; k < 10; k++) step(); });
  ["pointerdown", "pointermove"].forEach((kind) => $("state").addEventListener(kind, touched));
  $("state").addEventListener("keydown", typed);
  ["focus", "blur"].forEach((kind) => $("state").addEventListener(kind, show));
  root.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
    if (event.key === "s") step();
    if (event.key === "r") restart();
  });
  random = uniform(3);
  restart();
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".explorer.retrieval").forEach(explorer));
