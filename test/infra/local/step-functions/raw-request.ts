import { request } from "node:http";

/** A request the SDK would not send. Rejects with the message of an error answer. */
export function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => {
        const answer: unknown = JSON.parse(text);
        const message = (answer as { message?: string }).message ?? text;
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(message));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
