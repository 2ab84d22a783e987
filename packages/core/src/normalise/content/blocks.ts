/** The kinds of content that a tool can give, under their public names. */

import type { Block } from "@fairlead/wire";

export type McpTextBlock = Extract<Block, { type: "text" }>;
export type McpMediaBlock = Extract<Block, { type: "image" | "audio" }>;
export type McpResourceBlock = Extract<Block, { type: "resource" }>;
export type McpResourceLinkBlock = Extract<Block, { type: "resource_link" }>;
export type McpContentBlock = McpTextBlock | McpMediaBlock | McpResourceBlock | McpResourceLinkBlock;
