/** What the built-in server is called, for who need know nothing else of it. */

export const demoName = "demo";
