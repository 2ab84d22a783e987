/** Follows a `$ref` inside its own schema. Nothing is ever fetched for one. */

/** What a reference such as `#/$defs/item` points at; `undefined` if it points at nothing here. */
export function followReference(root: unknown, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let target = root;
  for (const step of steps(reference)) {
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, step)) return undefined;
    target = Object.getOwnPropertyDescriptor(target, step)?.value;
  }
  return target;
}

function steps(reference: string): readonly string[] {
  try {
    return decodeURIComponent(reference.slice(2))
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    // Not a fragment of a URI: taken as written, it will point at nothing.
    return [reference];
  }
}

export function pointerTo(path: string, step: string | number): string {
  return `${path}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
