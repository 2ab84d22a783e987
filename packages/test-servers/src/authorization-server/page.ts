/** The pages that a person sees: the question, and the outcome. */

import { type Answer, html } from "./answer.ts";

/**
 * The question as a form, which is sent to the same address. `request` identifies the question; `decision` is approve
 * or deny.
 */
export function consentPage(request: string, client: string, scopes: readonly string[]): Answer {
  const wishes = scopes.map((scope) => `<li>${escaped(scope)}</li>`).join("");
  return html(`<!doctype html>
<title>Allow access?</title>
<h1>Allow ${escaped(client)}?</h1>
<ul>${wishes}</ul>
<form method="post" action="">
  <input type="hidden" name="request" value="${escaped(request)}">
  <button name="decision" value="approve">Allow</button>
  <button name="decision" value="deny">Deny</button>
</form>`);
}

export function messagePage(message: string, status = 200): Answer {
  return html(`<!doctype html>\n<title>${escaped(message)}</title>\n<p>${escaped(message)}</p>`, status);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
