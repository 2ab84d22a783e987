/**
 * Wraps `onDiagnostic`, `onStderr` and `onMessage` of `ConnectOptions`, so that an error in them does not end the
 * session.
 */

import { createDiagnostics } from "../shapes/diagnostics.ts";
import { errorMessage } from "../shapes/text.ts";
import type { ConnectOptions } from "../target.ts";

type Callbacks = Pick<ConnectOptions, "onDiagnostic" | "onStderr" | "onMessage">;

/** Returns the callbacks, wrapped so that they never throw. */
export function guardedCallbacks({ onDiagnostic, onStderr, onMessage }: Callbacks): Callbacks {
  // If the diagnostic callback itself fails, there is no other place to report the error.
  const diagnostic = onDiagnostic && guarded(onDiagnostic, () => {});
  const diagnose = createDiagnostics((text) => diagnostic?.(text));
  const telling = (name: string) => (error: unknown) => diagnose(name, `${name} failed: ${errorMessage(error)}`);
  return {
    onDiagnostic: diagnostic,
    onStderr: onStderr && guarded(onStderr, telling("onStderr")),
    onMessage: onMessage && guarded(onMessage, telling("onMessage")),
  };
}

function guarded<A extends readonly unknown[]>(
  callback: (...args: A) => unknown,
  failed: (error: unknown) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      const result = callback(...args);
      // An async callback reports its error by rejecting its promise.
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
