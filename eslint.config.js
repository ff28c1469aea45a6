import { defineConfig } from "eslint/config";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
import tseslint from "typescript-eslint";

/** Time, chance and settings enter through ports, so that a drill can replay a run to the millisecond. */
const throughPorts = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: "Date.now() bypasses the clock port: take a `clock` and ask it.",
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: "new Date() without an instant bypasses the clock port: take a `clock` and pass what it says.",
  },
  {
    selector: "CallExpression[callee.name='Date']",
    message: "Date() bypasses the clock port: take a `clock` and ask it.",
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: "Math.random() bypasses the ids port: take `ids` and ask it, so that a seed reproduces the run.",
  },
  {
    selector: ":matches(MemberExpression[property.name='randomUUID'], ImportSpecifier[imported.name='randomUUID'])",
    message: "randomUUID bypasses the ids port: take `ids` and ask it.",
  },
  {
    selector: "MemberExpression[object.name='process']:matches([property.name='env'], [property.value='env'])",
    message: "process.env is read in lambdas/env.ts only: take the settings you need as a parameter.",
  },
  {
    selector:
      ":matches(VariableDeclarator[id.type='ObjectPattern'][init.name='process'], ImportDeclaration[source.value=/^(node:)?process$/])",
    message: "process.env is read in lambdas/env.ts only: name what you use, and take settings as a parameter.",
  },
];

export default defineConfig(
  { ignores: ["dist/", "cdk.out/", ".surefoot/", "coverage/", ".venv/"] },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommendedTypeChecked],
    plugins: { "import-x": importX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    settings: {
      "import-x/parsers": { "@typescript-eslint/parser": [".ts"] },
      "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".js"] })],
    },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      // Ports are async by contract; an adapter in memory has nothing to await.
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      // External packages cannot import us, so only our own files are followed. Type-only cycles: test/architecture.test.ts.
      "import-x/no-cycle": ["error", { ignoreExternal: true }],
      "max-lines": ["warn", { max: 300 }],
    },
  },
  {
    files: ["shared/**/*.ts", "lambdas/**/*.ts"],
    // The two places where the real clock, ids and settings are wired.
    ignores: ["lambdas/entry/**", "lambdas/env.ts"],
    rules: { "no-restricted-syntax": ["error", ...throughPorts] },
  },
  {
    // What a test reads back from JSON is checked by its own expectations.
    files: ["test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/unbound-method": "off",
    },
  },
);
