// An agent on Google's own library: it asks the model and runs the loop, Fairlead brings the tools and decides what may run.
import { createHost, ToolConfirmationOutcome } from "@fairlead/core";
import { GoogleGenAI } from "@google/genai";

const question = process.argv[2] ?? "Greet Ada in French.";

const host = await createHost({
  // Asked for whatever no rule allows. This agent may greet, and nothing else.
  confirm: async ({ serverName, toolName }) =>
    serverName === "demo" && toolName === "greet"
      ? ToolConfirmationOutcome.ProceedOnce
      : ToolConfirmationOutcome.Cancel,
});
try {
  await host.start({ servers: ["demo"] });
  const ai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
  const { text } = await ai.models.generateContent({
    model: "gemini-2.5-flash",
    contents: question,
    config: { tools: [host.asCallableTool()] },
  });
  console.log(text);
} finally {
  // Ends every server that was started.
  await host[Symbol.asyncDispose]();
}
