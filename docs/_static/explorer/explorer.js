// The explorer's page: a canvas to draw on, the state beside it, bars of weights, energy by step.
"use strict";

function explorer(root) {
  const $ = (name) => root.querySelector(`[data-${name}]`);
  const letters = Object.keys(SHAPES);
  const now = { target: 0, state: null, steps: [] };
  let random = uniform(1);

  const patterns = () => {
    const count = Number($("patterns").value);
    const other = uniform(7);
    const rest = Array.from({ length: Math.max(0, count - letters.length) }, () =>
      Float64Array.from({ length: N }, () => (other() < 0.5 ? -1 : 1)));
    return [...letters.slice(0, count).map((name) => drawn(SHAPES[name])), ...rest];
  };
  const choice = () => [$("memory").value, patterns(), Number($("beta").value)];

  function paint(canvas, state) {
    const context = canvas.getContext("2d");
    const size = canvas.width / SIDE;
    state.forEach((x, i) => {
      const level = Math.round(127.5 * (1 - Math.max(-1, Math.min(1, x))));
      context.fillStyle = `rgb(${level},${level},${level})`;
      context.fillRect((i % SIDE) * size, Math.floor(i / SIDE) * size, size, size);
    });
  }

  function show() {
    const [name, stored, beta] = choice();
    paint($("state"), now.state);
    paint($("pattern"), stored[now.target]);
    const p = weights(name, stored, now.state, beta);
    const overlap = stored[now.target].reduce((sum, x, i) => sum + x * now.state[i], 0) / N;
    const entropy = -p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0);
    $("told").textContent =
      `step ${now.steps.length - 1}: overlap ${overlap.toFixed(3)}, energy per neuron ${energy(name, stored, now.state, beta).toFixed(4)}, ` +
      `effective patterns ${Math.exp(entropy).toFixed(2)} of ${stored.length}`;
    $("bars").innerHTML = "";
    p.slice(0, 40).forEach((x, mu) => {
      const bar = document.createElement("span");
      bar.style.height = `${Math.max(1, 100 * x)}%`;
      bar.className = mu === now.target ? "target" : "";
      bar.title = `pattern ${mu < letters.length ? letters[mu] : mu + 1}: ${x.toFixed(3)}`;
      $("bars").append(bar);
    });
    const line = now.steps.map((x) => energy(name, stored, x, beta));
    const [low, high] = [Math.min(...line), Math.max(...line)];
    const at = (e, k) => `${(10 + (280 * k) / Math.max(1, line.length - 1)).toFixed(1)},${(70 - (60 * (e - low)) / (high - low || 1)).toFixed(1)}`;
    $("line").setAttribute("points", line.map(at).join(" "));
    $("betalabel").textContent = beta;
    $("patternslabel").textContent = stored.length;
    $("noiselabel").textContent = `${Math.round(100 * Number($("noise").value))} %`;
    $("beta").disabled = !MEMORIES[name].beta;
  }

  function restart(state) {
    const stored = patterns();
    now.target = Math.min(now.target, stored.length - 1);
    const share = Number($("noise").value);
    now.state = state ?? stored[now.target].map((x) => (random() < share ? -x : x));
    now.steps = [now.state];
    show();
  }

  function step() {
    const [name, stored, beta] = choice();
    now.state = sweep(name, stored, now.state, beta, shuffled(N, random));
    now.steps.push(now.state);
    show();
  }

  function flip(event) {
    const canvas = $("state");
    const box = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * SIDE);
    const row = Math.floor(((event.clientY - box.top) / box.height) * SIDE);
    const next = Float64Array.from(now.state, (x) => (x >= 0 ? 1 : -1));
    next[row * SIDE + column] *= -1;
    restart(next);
  }

  Object.entries(MEMORIES).forEach(([name, memory]) => $("memory").add(new Option(memory.label, name)));
  letters.forEach((name, index) => $("target").add(new Option(name, index)));
  $("target").addEventListener("change", () => { now.target = Number($("target").value); restart(); });
  ["memory", "patterns", "noise", "beta"].forEach((name) => $(name).addEventListener("input", () => restart()));
  $("again").addEventListener("click", () => restart());
  $("step").addEventListener("click", step);
  $("run").addEventListener("click", () => { for (let k = 0; k < 10; k++) step(); });
  $("state").addEventListener("pointerdown", flip);
  root.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
    if (event.key === "s") step();
    if (event.key === "r") restart();
  });
  random = uniform(3);
  restart();
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".explorer").forEach(explorer));
