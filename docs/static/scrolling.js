// Who uses a keyboard alone can scroll what is wider than the screen.
const parts = "article pre, article .table-wrapper, article .output";
addEventListener("load", () => {
  for (const part of document.querySelectorAll(parts)) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});
