/** What the database's process tells whoever started it. */
export type DynaliteMessage =
  { readonly kind: "ready"; readonly port: number } | { readonly kind: "failed"; readonly why: string };
