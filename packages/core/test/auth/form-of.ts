/** Returns the parameters of a request whose body is a form. */
export function formOf(init: RequestInit | undefined): Record<string, string> {
  const { body } = init ?? {};
  return body instanceof URLSearchParams ? Object.fromEntries(body) : {};
}
