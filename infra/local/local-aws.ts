/** How the runner itself speaks to what stands in for AWS here. */
export const localAws = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };
