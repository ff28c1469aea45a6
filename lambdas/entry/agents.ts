/** The agents alone, for whoever only looks at their definition: the local runner and the contract check. */
export { default } from "surefoot:agents";
