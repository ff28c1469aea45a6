function findFaults(textContrastMin, edgeContrastMin) {
  const faults = [];
  const must = (holds, fault) => {
    if (!holds) faults.push(fault);
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const nameOf = (element) => `<${element.tagName.toLowerCase()}> ${(element.textContent ?? "").trim().slice(0, 40)}`;

  must(document.documentElement.lang !== "", "the page has no language");
  must(document.title.trim() !== "", "the page has no title");
  must(
    document.querySelector('meta[name="viewport"][content*="width=device-width"]') !== null,
    "no viewport for phones",
  );
  for (const landmark of ["header", "main", "footer"]) must(all(landmark).length === 1, `expected one <${landmark}>`);
  must(all("h1").length === 1, `expected one h1, found ${all("h1").length}`);
  all("h1, h2, h3").reduce((before, heading) => {
    const level = Number(heading.tagName.slice(1));
    must(level <= before + 1, `${nameOf(heading)} skips a level`);
    must((heading.textContent ?? "").trim() !== "", "a heading is empty");
    return level;
  }, 0);
  const ids = all("[id]").map(({ id }) => id);
  for (const id of ids.filter((candidate, at) => ids.indexOf(candidate) !== at))
    faults.push(`id "${id}" is there twice`);
  for (const element of all("[aria-labelledby], [aria-describedby]")) {
    const named = `${element.getAttribute("aria-labelledby") ?? ""} ${element.getAttribute("aria-describedby") ?? ""}`;
    for (const id of named.trim().split(/\s+/u))
      must(document.getElementById(id) !== null, `nothing has the id "${id}"`);
  }
  for (const field of all("input:not([type=hidden]), textarea, select")) {
    must(field.labels?.length === 1, `${nameOf(field)} has no label`);
  }
  for (const operated of all("a, button, summary"))
    must((operated.textContent ?? "").trim() !== "", `${nameOf(operated)} has no name`);
  for (const table of all("table")) {
    must(table.querySelectorAll("thead th[scope=col]").length > 0, "a table has no column headers");
  }
  must(
    all("[tabindex]").every(({ tabIndex }) => tabIndex <= 0),
    "the order of focus is forced",
  );
  must(all("img:not([alt])").length === 0, "a picture has no text");
  must(document.documentElement.scrollWidth <= window.innerWidth, "the page scrolls sideways");

  const rgba = (color) => (color.match(/[\d.]+/gu) ?? []).map(Number);
  const luminance = ([r = 0, g = 0, b = 0]) => {
    const [x = 0, y = 0, z = 0] = [r, g, b].map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (one, other) => {
    const [light = 1, dark = 1] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if ((color[3] ?? 1) === 1) return color;
    }
    return [255, 255, 255];
  };
  for (const element of all("body *")) {
    const hasText = [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? "").trim() !== "",
    );
    const isShown = element.getClientRects().length > 0 && !element.closest(".unseen, .skip");
    if (!hasText || !isShown) continue;
    const ratio = contrast(rgba(getComputedStyle(element).color), groundOf(element));
    must(ratio >= textContrastMin, `${nameOf(element)} has a contrast of ${ratio.toFixed(2)}`);
  }
  for (const operated of all("input:not([type=hidden]), textarea, button")) {
    const { borderTopColor, backgroundColor } = getComputedStyle(operated);
    const outside = groundOf(operated.parentElement);
    const ratio = Math.max(contrast(rgba(borderTopColor), outside), contrast(rgba(backgroundColor), outside));
    must(ratio >= edgeContrastMin, `the edge of ${nameOf(operated)} has a contrast of ${ratio.toFixed(2)}`);
  }
  return faults;
}
