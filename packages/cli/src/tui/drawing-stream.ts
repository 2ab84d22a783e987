/** The stream that Ink draws on. */

/**
 * Reports endless rows: the app itself limits what it draws, and Ink would otherwise clear the terminal with its scrollback and
 * print everything again when a frame does not fit. Ink learns a new size with the frame that was laid out for it, not before.
 * `onWritten` is called after every write.
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
