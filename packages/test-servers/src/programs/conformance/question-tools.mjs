// Tools of the conformance server that ask the client questions before they answer.
import { text } from "./content.mjs";
import { tool } from "./tools.mjs";

export const object = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });
const string = { type: "string" };

export const elicit = (message, properties, required) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: object(properties, required) },
});
const sample = (words, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(words) }], maxTokens },
});
const listRoots = { method: "roots/list", params: {} };

/** Creates a tool that asks all its questions at once, and returns the answers. */
const asks = (name, description, questions, tell, inputSchema) =>
  tool(name, description, async (call) => [text(tell(await call.ask(questions(call)), call))], inputSchema);

const saysWhat = ({ answer }) => `The client answered ${answer.action}: ${JSON.stringify(answer.content ?? {})}`;
const sampled = ({ content }) => (Array.isArray(content) ? content : [content]).map(({ text: words }) => words).join();
const titled = (...values) => values.map((value) => ({ const: value, title: `The ${value} one` }));
const three = ["first", "second", "third"];

/** Tools with the names that the suite uses for the legacy era, in which servers send requests. */
const requesting = [
  asks(
    "test_sampling",
    "Asks the client's model.",
    ({ args }) => ({ answer: sample(String(args.prompt), 100) }),
    ({ answer }) => `The model said: ${sampled(answer)}`,
    object({ prompt: string }),
  ),
  asks(
    "test_elicitation",
    "Asks for a user name and an address.",
    ({ args }) => ({ answer: elicit(String(args.message), { username: string, email: string }) }),
    saysWhat,
    object({ message: string }),
  ),
  asks(
    "test_elicitation_sep1034_defaults",
    "Asks for values that have defaults.",
    () => ({
      answer: elicit(
        "Change what you like.",
        {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        },
        [],
      ),
    }),
    saysWhat,
  ),
  asks(
    "test_elicitation_sep1330_enums",
    "Asks for choices in all forms of enumerations.",
    () => ({
      answer: elicit(
        "Choose.",
        {
          untitledSingle: { type: "string", enum: three },
          titledSingle: { type: "string", oneOf: titled(...three) },
          legacyEnum: { type: "string", enum: three, enumNames: ["Number 1", "Number 2", "Number 3"] },
          untitledMulti: { type: "array", items: { type: "string", enum: three } },
          titledMulti: { type: "array", items: { anyOf: titled(...three) } },
        },
        [],
      ),
    }),
    saysWhat,
  ),
];

export const askName = elicit("Who are you?", { name: string });
const askOk = elicit("Is this right?", { ok: { type: "boolean" } });
const told = (answers) => `The client answered: ${JSON.stringify(answers)}`;
const toldState = (answers, { hasState }) => `${told(answers)} ${hasState ? "state-ok" : "without a state"}`;

/** Tools with the names that the suite uses for the modern era, in which questions are results. */
const returning = [
  asks(
    "test_input_required_result_elicitation",
    "Asks for a name.",
    () => ({ user_name: askName }),
    ({ user_name: { content } }) => `Hello, ${content?.name ?? "nobody"}!`,
  ),
  asks(
    "test_input_required_result_sampling",
    "Asks the client's model for a capital.",
    () => ({ capital_question: sample("Which town is the capital of Portugal?", 100) }),
    ({ capital_question: answer }) => `The model said: ${sampled(answer)}`,
  ),
  asks(
    "test_input_required_result_list_roots",
    "Asks for the client's roots.",
    () => ({ client_roots: listRoots }),
    ({ client_roots: { roots } }) => `The roots are ${roots.map(({ uri }) => uri).join(", ")}.`,
  ),
  asks("test_input_required_result_request_state", "Keeps a state.", () => ({ confirm: askOk }), toldState),
  asks("test_input_required_result_tampered_state", "Refuses a changed state.", () => ({ confirm: askOk }), toldState),
  asks(
    "test_input_required_result_multiple_inputs",
    "Asks three questions at once.",
    () => ({ user_name: askName, greeting: sample("Greet someone.", 50), client_roots: listRoots }),
    told,
  ),
  tool("test_input_required_result_multi_round", "Asks a question, and then another one.", async ({ ask }) => {
    const { step1 } = await ask({ step1: askName });
    const { step2 } = await ask({ step2: elicit("Which colour do you like?", { color: string }) });
    return [text(`${step1.content?.name} likes ${step2.content?.color}.`)];
  }),
  tool(
    "test_input_required_result_capabilities",
    "Asks only what the client declares.",
    async ({ ask, capabilities }) => {
      const name = capabilities.elicitation ? await ask({ user_name: askName }) : {};
      const greeting = capabilities.sampling ? await ask({ greeting: sample("Greet someone.", 50) }) : {};
      return [text(told({ ...name, ...greeting }))];
    },
  ),
  asks(
    "test_missing_capability",
    "Needs a client with a model.",
    () => ({ greeting: sample("Greet someone.", 50) }),
    told,
  ),
  asks("test_streaming_elicitation", "Asks while its response is open.", () => ({ user_name: askName }), told),
];

export const questionTools = [...requesting, ...returning];
