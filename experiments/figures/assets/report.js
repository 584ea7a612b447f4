// Panels, legends and tables of a report. Everything shown comes from the two blocks of JSON in the page.
"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const packed = document.getElementById("plotly");
  if (packed) {
    const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }
  const made = (kind, attributes, ...children) => {
    const node = document.createElement(kind);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  const saved = (name, type, text) => {
    const link = made("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";

  // ---- panels
  const drawn = [];
  const coloured = (trace) => {
    const copy = structuredClone(trace);
    if (!copy.grey) return copy;
    const ink = variable("--soft");
    if (copy.line) copy.line.color = ink;
    if (copy.marker) copy.marker.color = ink;
    if (copy.fillcolor) copy.fillcolor = ink;
    for (const key of ["error_x", "error_y"]) if (copy[key]) copy[key].color = ink;
    return copy;
  };
  const layout = (panel, state) => {
    const axis = (side) => {
      const { title, type, range, tickvals, ticktext } = panel[side];
      const kind = state[side] ?? type;
      return {
        title: { text: title, standoff: 8 }, type: kind, automargin: true, gridcolor: variable("--line"),
        zeroline: false, linecolor: variable("--soft"), tickvals, ticktext, exponentformat: "power",
        ...(kind === type ? { range: [...range] } : { autorange: true }),
      };
    };
    return {
      xaxis: axis("x"), yaxis: axis("y"), showlegend: false, hovermode: "closest", dragmode: "zoom",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", height: 340, annotations: panel.texts,
      margin: { l: 54, r: 14, t: 8, b: 44 }, font: { color: variable("--ink"), size: 12.5, family: "system-ui, sans-serif" },
      hoverlabel: { align: "left" },
    };
  };
  const redraw = (one) => {
    const traces = one.panel.traces.map((trace) => ({ ...coloured(trace), visible: !one.hidden.has(trace.group) }));
    Plotly.react(one.plot, traces, layout(one.panel, one.state), { displayModeBar: false, responsive: true });
  };
  const points = (panel) => {
    const rows = [["series", "x", "x_below", "x_above", "y", "y_below", "y_above"]];
    for (const trace of panel.traces.filter((each) => each.type === "scatter" && each.mode !== "none")) {
      trace.x.forEach((x, i) => rows.push([trace.name, x, trace.error_x?.arrayminus[i], trace.error_x?.array[i],
        trace.y[i], trace.error_y?.arrayminus[i], trace.error_y?.array[i]]));
    }
    return csv(rows);
  };
  data.panels.forEach((panel, number) => {
    if (panel.picture) {
      const image = made("img", { src: panel.picture, alt: panel.title });
      document.getElementById("panels").append(made("figure", { class: "panel" }, made("figcaption", {}, panel.title), image));
      return;
    }
    const plot = made("div", { class: "plot", role: "img", "aria-label": panel.title });
    const one = { panel, plot, hidden: new Set(), state: {} };
    const tools = made("div", { class: "tools", role: "group", "aria-label": `tools of ${panel.title}` });
    for (const side of ["x", "y"]) {
      if (!panel[side].positive || panel.image) continue;
      const flip = (event) => {
        one.state[side] = (one.state[side] ?? panel[side].type) === "log" ? "linear" : "log";
        event.target.setAttribute("aria-pressed", String(one.state[side] === "log"));
        redraw(one);
      };
      const pressed = String(panel[side].type === "log");
      tools.append(made("button", { type: "button", "aria-pressed": pressed, onclick: flip }, `log ${side}`));
    }
    const name = `${data.name}-${number + 1}`;
    tools.append(
      made("button", { type: "button", onclick: () => { one.state = {}; redraw(one); } }, "reset"),
      made("button", { type: "button", onclick: () => Plotly.downloadImage(plot, { format: "svg", filename: name, width: 720, height: 420 }) }, "SVG"),
      made("button", { type: "button", onclick: () => saved(`${name}.csv`, "text/csv", points(panel)) }, "CSV"),
    );
    const legend = made("div", { class: "legend", role: "group", "aria-label": `series of ${panel.title}` });
    panel.legend.forEach((entry, group) => {
      const toggle = (event) => {
        const hidden = !one.hidden.delete(group) && Boolean(one.hidden.add(group));
        event.currentTarget.setAttribute("aria-pressed", String(!hidden));
        redraw(one);
      };
      const swatch = made("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = entry.colour;
      legend.append(made("button", { type: "button", "aria-pressed": "true", onclick: toggle }, swatch, entry.name));
    });
    document.getElementById("panels").append(
      made("figure", { class: "panel" }, made("figcaption", {}, panel.title), plot, legend, tools));
    drawn.push(one);
  });
  drawn.forEach(redraw); // once all stand in their places, which sets their widths
  const recolour = () => drawn.forEach(redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  document.getElementById("theme")?.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    recolour();
  });

  // ---- frames of an animated panel
  document.querySelectorAll("[data-frames]").forEach((box) => {
    const frames = data.frames[Number(box.dataset.frames)];
    const slider = box.querySelector("input"), image = box.querySelector("img"), told = box.querySelector("output");
    const show = () => { image.src = frames[slider.value].image; told.textContent = frames[slider.value].text; };
    slider.addEventListener("input", show);
    show();
  });

  // ---- tables that sort
  document.querySelectorAll("table.sortable").forEach((table) => {
    const body = table.tBodies[0];
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = made("button", { type: "button" }, head.textContent);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const order = (a, b) => {
          const [left, right] = [key(a), key(b)];
          const numbers = [Number.parseFloat(left), Number.parseFloat(right)];
          const both = numbers.every((value, i) => !Number.isNaN(value) && /^[\d.eE+-]+$/.test([left, right][i]));
          return (down ? -1 : 1) * (both ? numbers[0] - numbers[1] : left.localeCompare(right));
        };
        body.append(...[...body.rows].sort(order));
      });
      head.replaceChildren(button);
    });
  });
  document.getElementById("save")?.addEventListener("click", () => {
    const table = document.querySelector("#rows table");
    saved(`${data.name}.csv`, "text/csv", csv([...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))));
  });
  document.documentElement.dataset.ready = "true";
})();
