/** Runs in the page: what a person could be deceived by. */
export function deceptions(): readonly string[] {
  const found: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const check = (text: string, where: string): void => {
    const bad = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u.exec(text);
    if (bad !== null) found.push(`U+${bad[0].codePointAt(0)?.toString(16)} in ${where}`);
    if (/\p{M}{10,}/u.test(text)) found.push(`very many marks in ${where}`);
  };
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    check(node.textContent ?? "", `<${node.parentElement?.className}>`);
  for (const element of document.querySelectorAll("*"))
    for (const name of ["title", "aria-label", "placeholder", "alt"])
      check(element.getAttribute(name) ?? "", `${name} of <${element.className}>`);
  if (document.querySelector("img:not([src^='blob:']), iframe, script:not([type=module])") !== null)
    found.push("an element of the text");
  check(document.title, "the title");
  return found;
}
