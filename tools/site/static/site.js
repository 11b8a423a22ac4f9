// Folds the sections of the sidebar. The section of the page is open; without one, the first is.
document.addEventListener("DOMContentLoaded", () => {
  const captions = [...document.querySelectorAll(".sidebar-tree p.caption")];
  const current = captions.find((caption) => caption.nextElementSibling.querySelector(".current-page"));
  for (const caption of captions) {
    const group = document.createElement("details");
    const summary = document.createElement("summary");
    group.open = caption === (current ?? captions[0]);
    summary.className = "caption";
    summary.textContent = caption.textContent;
    group.append(summary, caption.nextElementSibling);
    caption.replaceWith(group);
  }
  for (const region of document.querySelectorAll("pre, .table-wrapper, article p:has(> img)")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0; // the keyboard scrolls it
  }
});
