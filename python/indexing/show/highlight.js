// Highlights a cell and its partners where somebody points at it, and keeps them where somebody clicks; says what the cell is.
function highlight(svg) {
  const cells = new Map([...svg.querySelectorAll("[data-key]")].map((cell) => [cell.dataset.key, cell]));
  const said = svg.querySelector(".said"), note = said ? said.textContent : "";
  let held = null;
  const light = (cell) => {
    svg.querySelectorAll(".on").forEach((other) => other.classList.remove("on"));
    if (said) said.textContent = cell ? cell.querySelector("title").textContent : note;
    if (!cell) return;
    const partners = (cell.dataset.with || "").split(" ").map((key) => cells.get(key)).filter(Boolean);
    [cell, ...partners].forEach((lit) => lit.classList.add("on"));
  };
  cells.forEach((cell) => {
    cell.addEventListener("mouseenter", () => light(cell));
    cell.addEventListener("mouseleave", () => light(held));
    cell.addEventListener("click", () => { held = held === cell ? null : cell; light(held); });
  });
}
