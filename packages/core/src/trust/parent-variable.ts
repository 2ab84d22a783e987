/** The variable that tells a server's process, and everything that it starts, that a gateway has started it. */
export const parentVariable = "FAIRLEAD_PARENT";
