/** JSON pointers (RFC 6901), as text in a URI fragment and as our own paths. */

export function pointerTo(path: string, ...segments: readonly (string | number)[]): string {
  return segments.reduce<string>((text, segment) => `${text}/${escapeSegment(String(segment))}`, path);
}

function escapeSegment(segment: string): string {
  return /[~/]/.test(segment) ? segment.replaceAll("~", "~0").replaceAll("/", "~1") : segment;
}

/** `/a~1b/%25` in a URI → `["a/b", "%"]`; undefined where it is no pointer. */
export function segmentsOf(fragment: string): readonly string[] | undefined {
  return fragment === "" || fragment.startsWith("/") ? stepsOf(decode(fragment)) : undefined;
}

/** `/a~1b/%` as we write it → `["a/b", "%"]`. */
export function stepsOf(path: string): readonly string[] {
  return path === "" ? [] : path.slice(1).split("/").map(unescapeSegment);
}

/** Where the last step of a path starts, and its name. */
export function lastStep(path: string): readonly [path: string, name: string] {
  const at = path.lastIndexOf("/");
  return at < 0 ? ["", ""] : [path.slice(0, at), unescapeSegment(path.slice(at + 1))];
}

function unescapeSegment(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Percent signs that encode nothing stay as they are: some generators do not escape them. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
