/** An image, with words beside it. */

import { drawPicture, patterns } from "../picture.ts";
import { type DemoTool, defineTool } from "../tool.ts";

export const pictureTool: DemoTool = defineTool({
  name: "picture",
  title: "Draw a picture",
  description: "Draw a small square picture and return it as a PNG.",
  parameters: {
    pattern: { type: "string", description: "what to draw", enum: [...patterns], default: "waves" },
    size: { type: "integer", description: "width and height in pixels", minimum: 8, maximum: 256, default: 64 },
  },
  async run({ pattern, size }) {
    const png = await drawPicture(pattern, size);
    return {
      content: [
        { type: "text", text: `A picture of ${pattern}, ${size} × ${size} pixels.` },
        { type: "image", mimeType: "image/png", data: png.toString("base64") },
      ],
    };
  },
});
