/** Reports schemas that were merged into other schemas or left out. */

import { lastStep } from "../pointer.ts";
import type { Shape } from "../read/shape.ts";
import type { Report } from "../schema-node.ts";

/** Reports a schema that was merged into another one. */
export function reportMerged({ path }: Shape, report: Report): void {
  report(...lastStep(path), "merged", "This schema is merged with another schema for the same value.");
}

/** Reports shapes that were left out. Reports a path for each schema that had been merged into them. */
export function reportDropped(shapes: Iterable<Shape>, note: string, report: Report): void {
  const seen = new Set<Shape>();
  const open = Array.from(shapes, (shape) => ({ shape, above: [] as readonly string[] }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { shape, above } = next;
    if (seen.has(shape)) continue;
    seen.add(shape);
    // Reports only the outermost schema that was left out, not the schemas inside it. The root is never left out.
    const elsewhere = shape.origins.filter(
      (path) => path !== "" && !above.some((outer) => path.startsWith(`${outer}/`)),
    );
    for (const path of elsewhere) report(...lastStep(path), "removed", note);
    const origins = [...above, ...elsewhere];
    open.push(...inside(shape).map((inner) => ({ shape: inner, above: origins })));
  }
}

function inside(shape: Shape): readonly Shape[] {
  return [...itemsOf(shape), ...shape.properties.values(), ...(shape.anyOf ?? [])];
}

/** The schemas of a list's items: those of `prefixItems`, then that of `items`. */
export function itemsOf({ items, prefix = [] }: Shape): readonly Shape[] {
  return items === undefined ? prefix : [...prefix, items];
}
