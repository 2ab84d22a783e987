/** The types of requests to Anthropic's messages API. */

export interface ContentBlock {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly ContentBlock[];
  readonly source?: { readonly type?: string; readonly media_type?: string; readonly data?: string };
}

export interface AnthropicMessage {
  readonly role?: string;
  readonly content?: string | readonly ContentBlock[];
}

export interface AnthropicBody {
  readonly model?: string;
  readonly max_tokens?: number;
  readonly system?: string;
  readonly messages?: readonly AnthropicMessage[];
  readonly tools?: readonly { readonly name?: string; readonly input_schema?: { readonly type?: string } }[];
}

export function blocksOf({ content = [] }: AnthropicMessage): readonly ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
