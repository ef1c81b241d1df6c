// Search over the texts of all pages, and the menu on small screens. Nothing is fetched.
(() => {
  const up = document.body.dataset.up;
  const field = document.getElementById("search");
  const found = document.getElementById("found");
  const menu = document.getElementById("menu");
  const open = document.getElementById("open");

  open.addEventListener("click", () => {
    open.setAttribute("aria-expanded", String(menu.classList.toggle("shown")));
  });

  function rank(page, words) {
    const title = page.title.toLowerCase();
    const text = page.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      const times = text.split(word).length - 1;
      if (!times && !title.includes(word)) return 0;
      score += Math.min(times, 10) + (title.includes(word) ? 30 : 0);
    }
    return score;
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    found.hidden = words.length === 0;
    if (found.hidden) return;
    const hits = window.PAGES.map((page) => [rank(page, words), page])
      .filter(([score]) => score > 0)
      .sort((one, other) => other[0] - one[0] || one[1].title.localeCompare(other[1].title))
      .slice(0, 12);
    for (const [, page] of hits) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = up + page.target;
      link.textContent = page.title;
      const at = Math.max(0, page.text.toLowerCase().indexOf(words[0]) - 40);
      const around = document.createElement("small");
      around.textContent = page.text.slice(at, at + 140);
      item.append(link, around);
      found.append(item);
    }
    if (hits.length === 0) found.append(Object.assign(document.createElement("li"), { textContent: "Nothing found." }));
  }

  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { field.value = ""; show(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { field.value = asked; show(); }
})();
