// Texts of a page whose colour is less than 4.5 times as light or as dark as their ground (WCAG 2, 1.4.3).
() => {
  const TEXT = ["p", "li", "td", "th", "h1", "h2", "a", "code", "pre span", "label", "figcaption", "summary"].map((kind) => `article ${kind}`).join(", ");
  const parse = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const level = ([r, g, b]) => [r, g, b]
    .map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (let n = node; n; n = n.parentElement) {
      const c = parse(getComputedStyle(n).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const node of document.querySelectorAll(TEXT)) {
    if (!node.textContent.trim() || node.closest("mjx-container") || node.offsetParent === null) continue;
    const [a, b] = [level(parse(getComputedStyle(node).color)), level(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${node.tagName} ${node.className} ${ratio.toFixed(2)} ${node.textContent.slice(0, 30)}`);
  }
  return [...new Set(bad)].slice(0, 5);
}
