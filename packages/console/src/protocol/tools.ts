import type { JsonObject } from "@fairlead/wire";
import type { ShownDifference } from "./rows.ts";

/** A tool in lists. */
export interface ToolRow {
  readonly server: string;
  /** The server's own name. */
  readonly tool: string;
  /** The name that a model uses. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly annotations?: JsonObject | undefined;
  readonly tokens: number;
  /** What the rules say about a model's call, before its arguments are known. */
  readonly decision: "allow" | "ask" | "deny";
  readonly isChanged: boolean;
  /** Only views may call it (MCP Apps). */
  readonly isForViews: boolean;
  /** Why a model is not offered the tool. */
  readonly hidden?: string | undefined;
  /** The address of its view (MCP Apps). */
  readonly view?: string | undefined;
}

/** What the rules say about a call, and why. */
export interface DecisionLine {
  readonly decision: "allow" | "ask" | "deny";
  /** The rule that decides, in words. */
  readonly because: string;
  /** Where the rule is written, as FILE:LINE or the name of a setting. */
  readonly ruleAt?: string | undefined;
}

/** Lists and explains tools, resources and prompts. */
export interface ToolCommands {
  "tools/list": { params: Record<string, never>; result: { readonly tools: readonly ToolRow[] } };
  /** The same search as a model's `search_tools`. */
  "tools/search": {
    params: { readonly query: string; readonly limit?: number | undefined };
    result: { readonly found: readonly { readonly server: string; readonly tool: string; readonly score: number }[] };
  };
  "tools/show": {
    params: { readonly server: string; readonly tool: string };
    result: {
      readonly tool: ToolRow;
      readonly inputSchema: JsonObject;
      readonly outputSchema?: JsonObject | undefined;
      readonly change?: readonly ShownDifference[] | undefined;
    };
  };
  /** What the rules say if the user of the console makes this call. Says also what is wrong with the arguments. */
  "tools/decide": {
    params: { readonly server: string; readonly tool: string; readonly args: JsonObject };
    result: DecisionLine & {
      readonly problems: readonly { readonly pointer: string; readonly message: string }[];
    };
  };
  "resources/list": {
    params: Record<string, never>;
    result: {
      readonly resources: readonly {
        readonly server: string;
        readonly kind: "resource" | "template";
        /** The URI, or the template. */
        readonly uri: string;
        readonly name: string;
        readonly description?: string | undefined;
        readonly mimeType?: string | undefined;
        readonly size?: number | undefined;
      }[];
    };
  };
  "prompts/list": {
    params: Record<string, never>;
    result: {
      readonly prompts: readonly {
        readonly server: string;
        readonly prompt: string;
        readonly description?: string | undefined;
        readonly arguments: readonly {
          readonly name: string;
          readonly description?: string | undefined;
          readonly isRequired: boolean;
        }[];
      }[];
    };
  };
  /** Values that the server suggests for an argument of a prompt or a variable of a resource template. */
  complete: {
    params: {
      readonly server: string;
      readonly prompt?: string | undefined;
      readonly uriTemplate?: string | undefined;
      readonly argument: string;
      readonly value: string;
      readonly others?: Readonly<Record<string, string>> | undefined;
    };
    result: { readonly values: readonly string[] };
  };
}
