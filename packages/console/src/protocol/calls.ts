import type { JsonObject } from "@fairlead/wire";

/** Begins, cancels and reads requests to servers. The page chooses the id of a call, so that it can recognise its events. */
export interface CallCommands {
  "calls/tool": {
    params: { readonly call: string; readonly server: string; readonly tool: string; readonly args: JsonObject };
    result: Record<string, never>;
  };
  "calls/resource": {
    params: { readonly call: string; readonly server: string; readonly uri: string };
    result: Record<string, never>;
  };
  "calls/prompt": {
    params: {
      readonly call: string;
      readonly server: string;
      readonly prompt: string;
      readonly args: Readonly<Record<string, string>>;
    };
    result: Record<string, never>;
  };
  /** Reads a file of a skill. Its result is that of a resource. Default file: SKILL.md. */
  "calls/skill": {
    params: {
      readonly call: string;
      readonly server: string;
      readonly uri: string;
      readonly file?: string | undefined;
    };
    result: Record<string, never>;
  };
  "calls/cancel": { params: { readonly call: string }; result: Record<string, never> };
  /** The result of an ended call, as the server sent it. Kept for the latest calls. */
  "calls/result": {
    params: { readonly call: string };
    result: {
      /**
       * `tools/call`: content, structuredContent, isError; `resources/read`: contents; `prompts/get`: messages. Absent if
       * the request has failed, or if its result is no longer kept. In blocks, `bytes` stands in place of `data` and `blob`.
       */
      readonly result?: JsonObject | undefined;
      readonly display?: string | undefined;
      readonly warnings: readonly string[];
      /** The view of the call's tool (MCP Apps). `isAllowed`: the person has allowed a view of this address before. */
      readonly view?: { readonly uri: string; readonly isAllowed: boolean } | undefined;
      readonly durationMs: number;
    };
  };
  /** The bytes of a block of a result, such as an image. `path` is the JSON pointer of the block, such as `/content/0`. */
  "calls/blob": {
    params: { readonly call: string; readonly path: string };
    result: { readonly type: string; readonly base64: string };
  };
}
