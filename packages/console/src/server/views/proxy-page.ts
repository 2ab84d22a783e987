/**
 * The page between the console and a view (MCP Apps). It is on another origin than the console, and has the content
 * security policy that the view inherits. The view itself is in a frame inside of it, without any origin: it has no
 * storage, and reaches neither this page nor the console but by messages.
 */

/** Returns the document. @param around The origin of the console, the only page that it talks to. */
export function proxyPage(html: string, around: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>View of a server</title>
<style>html, body, iframe { display: block; width: 100%; height: 100%; margin: 0; border: 0 } body { overflow: hidden }</style>
</head><body><script>
const around = ${inScript(around)};
const view = document.createElement("iframe");
view.title = "View";
view.setAttribute("sandbox", "allow-scripts allow-forms");
addEventListener("message", ({ source, origin, data }) => {
  if (source === parent && origin === around) view.contentWindow.postMessage(data, "*");
  else if (source === view.contentWindow && origin === "null") parent.postMessage(data, around);
});
view.srcdoc = ${inScript(html)};
document.body.append(view);
document.currentScript.remove();
</script></body></html>
`;
}

/** Writes a text so that nothing in it ends the script. */
function inScript(text: string): string {
  return JSON.stringify(text)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}
