// The tools of the agents. Each leaves a file behind, so that it shows which really ran.
import { writeFileSync } from "node:fs";
import { z } from "zod";

const touch = (name) => writeFileSync(`${process.env.EFFECTS}/${name}`, "");

export const effects = {
  fetch_doc: {
    description: "Fetch a document.",
    input: z.object({ doc_id: z.string() }),
    run: async ({ doc_id }) => {
      touch("fetch_doc");
      return { title: doc_id, pages: 3, text: "Tapedeck 1.4 keeps the runs that failed – and only those." };
    },
  },
  shorten: {
    description: "Shorten a text.",
    input: z.object({ text: z.string(), max_words: z.number().int() }),
    run: async ({ text, max_words }) => {
      touch("shorten");
      return text.split(" ").slice(0, max_words).join(" ");
    },
  },
  count_words: {
    description: "Count the words of a text.",
    input: z.object({ text: z.string() }),
    run: async ({ text }) => {
      touch("count_words");
      return text.split(" ").length;
    },
  },
  publish: {
    description: "Publish a text.",
    input: z.object({ channel: z.string(), text: z.string() }),
    run: async ({ channel }) => {
      touch("publish");
      throw new Error(`503 Service Unavailable: ${channel}`);
    },
  },
};
