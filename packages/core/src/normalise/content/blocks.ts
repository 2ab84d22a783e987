/** Public names for the types of MCP content blocks. */

import type { Block } from "@fairlead/wire";

/** A text block. */
export type McpTextBlock = Extract<Block, { type: "text" }>;
/** An image or audio block. `data` is Base64. */
export type McpMediaBlock = Extract<Block, { type: "image" | "audio" }>;
/** A block with an embedded resource. */
export type McpResourceBlock = Extract<Block, { type: "resource" }>;
/** A block that links to a resource of the server. */
export type McpResourceLinkBlock = Extract<Block, { type: "resource_link" }>;
/** A content block with a known type, as in a tool's result. */
export type McpContentBlock = McpTextBlock | McpMediaBlock | McpResourceBlock | McpResourceLinkBlock;
