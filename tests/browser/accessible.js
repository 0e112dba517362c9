// What is wrong with a page for people who cannot see it well, or use no pointer; an empty list if nothing is.
() => {
  const found = [];
  const where = (one) => `${one.tagName.toLowerCase()}${one.id ? "#" + one.id : ""} ${(one.textContent || "").trim().slice(0, 40)}`;
  const isShown = (one) => one.checkVisibility({visibilityProperty: true}) && one.getClientRects().length > 0;
  const nameOf = (one) => (one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || one.title || "").trim();

  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title.trim()) found.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) found.push("there is not one main");
  if (document.querySelectorAll("h1").length !== 1) found.push("there is not one h1");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const now = Number(heading.tagName[1]);
    if (level && now > level + 1) found.push(`a heading skips a level: ${where(heading)}`);
    level = now;
  }
  const ids = new Set();
  for (const one of document.querySelectorAll("[id]")) {
    if (ids.has(one.id)) found.push(`an id is there twice: ${one.id}`);
    ids.add(one.id);
  }
  for (const one of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")) {
    if (isShown(one) && !nameOf(one)) found.push(`it has no name: ${where(one)} ${one.name || one.href || ""}`);
  }
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (isShown(one) && !one.labels.length && !one.getAttribute("aria-label")) found.push(`it has no label: ${one.name}`);
  }
  for (const one of document.querySelectorAll("svg")) {
    if (!one.getAttribute("aria-label") && one.getAttribute("aria-hidden") !== "true") found.push("a picture has no name");
  }
  for (const one of document.querySelectorAll("table")) if (!one.querySelector("th")) found.push(`a table has no headings: ${where(one)}`);
  for (const one of document.querySelectorAll("[tabindex]")) if (one.tabIndex > 0) found.push(`it changes the order of focus: ${where(one)}`);

  const number = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const groundOf = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const [r, g, b, a = 1] = number(getComputedStyle(at).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const told = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const one = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !isShown(one) || one.closest(".answered, [disabled], .skip")) continue;
    const style = getComputedStyle(one);
    const [a, b] = [light(number(style.color)), light(groundOf(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const key = `${one.tagName}.${one.className}`;
    if (ratio < (isLarge ? 3 : 4.5) && !told.has(key)) {
      told.add(key);
      found.push(`its contrast is ${ratio.toFixed(2)}: ${key} ${where(one)}`);
    }
  }
  if (document.documentElement.scrollWidth > window.innerWidth + 1) {
    const wide = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1 && !one.closest(".scroll, nav ul, pre"));
    found.push(`the page is wider than the window: ${document.documentElement.scrollWidth}: ${wide.slice(0, 3).map(where)}`);
  }
  return found;
}
