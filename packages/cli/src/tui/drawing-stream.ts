/** The terminal as Ink sees it. */

/**
 * Endless downwards: how much fits is our own concern, and what Ink does when it thinks that something does not (it clears the
 * terminal with all that has scrolled away, and prints everything anew) would lose a person's place. Of a new size Ink learns
 * with the frame that was laid out for it, not before. `onWritten` is told whenever something was handed to the terminal.
 */
export function drawingStream(stdout: NodeJS.WriteStream, onWritten: () => void): NodeJS.WriteStream {
  const own = new Map<PropertyKey, unknown>([
    ["rows", Number.POSITIVE_INFINITY],
    [
      "on",
      (event: string, listener: (...given: unknown[]) => void) => event === "resize" || stdout.on(event, listener),
    ],
    [
      "write",
      (...given: Parameters<NodeJS.WriteStream["write"]>) => {
        const isTaken = stdout.write(...given);
        onWritten();
        return isTaken;
      },
    ],
  ]);
  return new Proxy(stdout, {
    get(target, name) {
      if (own.has(name)) return own.get(name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
