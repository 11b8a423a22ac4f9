// The scores of search results. All but `score` are those of Sphinx, which needs the whole object.
var Scorer = {
  // The changelog names every feature: its results follow those of other pages.
  score: ([page, title, anchor, description, score]) => (page === "CHANGELOG" ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
