/** A structured result: data under a schema, and the same data as text for hosts that know only that. */

import { type DemoTool, defineTool, text } from "../tool.ts";

export const statisticsTool: DemoTool = defineTool({
  name: "statistics",
  title: "Count words",
  description: "Count the characters, words and lines of a text, and find its longest word.",
  parameters: { text: { type: "string", description: "the text to look at", examples: ["to be or not to be"] } },
  outputSchema: {
    type: "object",
    properties: {
      characters: { type: "integer" },
      words: { type: "integer" },
      lines: { type: "integer" },
      longestWord: { type: "string" },
    },
    required: ["characters", "words", "lines", "longestWord"],
  },
  run(values) {
    const words = values.text.match(/[\p{L}\p{N}\p{M}'’-]+/gu) ?? [];
    const structuredContent = {
      characters: [...new Intl.Segmenter().segment(values.text)].length,
      words: words.length,
      lines: values.text === "" ? 0 : values.text.split("\n").length,
      longestWord: words.reduce((longest, word) => (word.length > longest.length ? word : longest), ""),
    };
    return { ...text(JSON.stringify(structuredContent)), structuredContent };
  },
});
