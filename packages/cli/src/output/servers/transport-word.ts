/** The transport in one word. */

import type { ConfiguredServer } from "@fairlead/core/settings/define/definition";

/** A bare `url` is tried as streamable HTTP first. */
export function transportWord(kind: ConfiguredServer["kind"]): "stdio" | "http" | "sse" | "unknown" {
  switch (kind) {
    case undefined:
      return "unknown";
    case "http-or-sse":
      return "http";
    case "stdio":
    case "http":
    case "sse":
      return kind;
  }
}
