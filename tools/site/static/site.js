"use strict";

const ROOT = document.documentElement.dataset.content_root;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Folds the sections of the sidebar. The section of the page is open; without one, the first is.
function foldSidebar() {
  const captions = [...document.querySelectorAll(".sidebar-tree p.caption")];
  const current = captions.find((caption) => caption.nextElementSibling.querySelector(".current-page"));
  for (const caption of captions) {
    const summary = element("summary", { className: "caption", textContent: caption.textContent });
    const open = caption === (current ?? captions[0]);
    caption.replaceWith(element("details", { open }, summary, caption.nextElementSibling));
  }
}

// The keyboard scrolls a region that is wider than the page.
function focusWideRegions() {
  for (const region of document.querySelectorAll("pre, .table-wrapper, article p:has(> img)")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
  }
}

// Names the column of each cell, for tables whose rows are cards on a phone: those with several columns or wide words.
function nameColumns() {
  for (const table of document.querySelectorAll("table.docutils")) {
    const columns = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent.trim());
    table.classList.toggle("cards", columns.length > 2 || table.scrollWidth > table.parentElement.clientWidth);
    for (const cell of table.querySelectorAll("td")) {
      const column = columns[cell.cellIndex];
      if (column && cell.cellIndex > 0) cell.dataset.column = column;
    }
  }
}

// Shows the sections below the comment "tabs" as tabs. An address of a section selects its tab.
function makeTabs(parent) {
  const panels = [...parent.querySelectorAll(":scope > section")];
  const list = element("div", { className: "tabs", role: "tablist", ariaLabel: parent.firstElementChild.firstChild.data });
  const tabs = panels.map((panel) => {
    const heading = panel.firstElementChild.matches("span") ? panel.children[1] : panel.firstElementChild;
    const tab = element("button", { id: `tab-${panel.id}`, role: "tab", textContent: heading.firstChild.data });
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("aria-labelledby", tab.id);
    panel.role = "tabpanel";
    heading.hidden = true;
    return tab;
  });
  const select = (chosen) => {
    tabs.forEach((tab, place) => {
      tab.ariaSelected = String(tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      panels[place].hidden = tab !== chosen;
    });
  };
  const selectTarget = () => {
    const target = document.getElementById(location.hash.slice(1)); // ids are ASCII
    const place = panels.findIndex((panel) => panel.contains(target));
    if (place >= 0) select(tabs[place]);
    if (place >= 0) target.scrollIntoView();
  };
  list.addEventListener("click", (event) => {
    if (event.target.role === "tab") select(event.target);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
    select(next);
    next.focus();
  });
  list.append(...tabs);
  panels[0].before(list);
  select(tabs[0]);
  selectTarget();
  window.addEventListener("hashchange", selectTarget);
}

function findTabs() {
  const comments = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_COMMENT);
  while (comments.nextNode()) {
    if (comments.currentNode.data.trim() === "tabs") makeTabs(comments.currentNode.parentElement);
  }
}

// Shows the versions of the site, which versions.js lists, newest first. A version is a folder beside that of this site.
function selectVersion(versions) {
  const current = DOCUMENTATION_OPTIONS.VERSION;
  const options = versions.map((version) => element("option", { value: version, selected: version === current }, version));
  const select = element("select", { ariaLabel: "Version" }, ...options);
  select.addEventListener("change", () => location.assign(`${ROOT}../${select.value}/index.html`));
  document.querySelector(".sidebar-search-container")?.after(element("div", { className: "versions" }, "Version ", select));
}

// Adds the first sentence of its page to each result of a search.
function summarizeResults(summaries) {
  const results = document.querySelector("#search-results");
  new MutationObserver(() => {
    for (const item of results.querySelectorAll("li:not(:has(.summary)):has(> a)")) {
      const page = new URL(item.querySelector("a").href).pathname.replace(/\.html$/, "");
      const name = Object.keys(summaries).find((ending) => page.endsWith(`/${ending}`));
      item.append(element("p", { className: "summary" }, summaries[name] ?? ""));
    }
  }).observe(results, { childList: true, subtree: true });
}

document.addEventListener("DOMContentLoaded", () => {
  foldSidebar();
  nameColumns();
  focusWideRegions();
  findTabs();
  selectVersion(VERSIONS);
  if (document.querySelector("#search-results")) summarizeResults(SUMMARIES);
});
