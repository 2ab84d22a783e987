/** The host's own callbacks, made safe to call from anywhere: what they throw is counted, told, and ends nothing. */

import { createDiagnostics } from "../shapes/diagnostics.ts";
import { errorMessage } from "../shapes/text.ts";
import type { ConnectOptions } from "../target.ts";

type Callbacks = Pick<ConnectOptions, "onDiagnostic" | "onStderr" | "onMessage">;

export function guardedCallbacks({ onDiagnostic, onStderr, onMessage }: Callbacks): Callbacks {
  // A log that fails has nobody to tell.
  const diagnostic = onDiagnostic && guarded(onDiagnostic, () => {});
  const odd = createDiagnostics((text) => diagnostic?.(text));
  const telling = (name: string) => (error: unknown) => odd(name, `${name} failed: ${errorMessage(error)}`);
  return {
    ...(diagnostic && { onDiagnostic: diagnostic }),
    ...(onStderr && { onStderr: guarded(onStderr, telling("onStderr")) }),
    ...(onMessage && { onMessage: guarded(onMessage, telling("onMessage")) }),
  };
}

function guarded<A extends readonly unknown[]>(
  callback: (...args: A) => unknown,
  failed: (error: unknown) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      const result = callback(...args);
      // Nothing keeps a host from giving an async function.
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
