// The project in the README's picture, and what two agents do in it.
export const files = {
  "src/cart/total.ts": `import type { Cart, Money } from "./types.ts";
import { rates } from "../tax/rates.ts";

/** The sum of a cart, without shipping. */
export function total(cart: Cart): Money {
  let sum = 0;
  for (const item of cart.items) {
    sum += item.price * item.count;
  }
  return { amount: sum, currency: cart.currency };
}

export function isEmpty(cart: Cart): boolean {
  return cart.items.length === 0;
}

/** What the customer saves. */
export function discount(cart: Cart): Money {
  const percent = cart.coupon === "SUMMER" ? 10 : 0;
  return { amount: (total(cart).amount * percent) / 100, currency: cart.currency };
}
`,
  "src/cart/types.ts": `export interface Cart {
  readonly items: readonly Item[];
  readonly currency: string;
  readonly coupon?: string;
}
`,
  "test/cart/total.test.ts": `import { expect, test } from "vitest";
import { total } from "../../src/cart/total.ts";

test("an empty cart costs nothing", () => {
  expect(total({ items: [], currency: "EUR" }).amount).toBe(0);
});
`,
  "README.md": "# Webshop\n\nA small shop.\n\nRun it with `npm start`.\n",
};

export const steps = [
  {
    client: "codex/1.4.2",
    calls: [
      [
        "edit_file",
        { path: "README.md", edits: [{ old: "A small shop.", new: "A small shop with a large cart." }] },
      ],
    ],
  },
  {
    client: "claude-code/2.1.7",
    calls: [
      [
        "edit_file",
        {
          path: "src/cart/total.ts",
          edits: [
            {
              old: "  let sum = 0;\n  for (const item of cart.items) {\n    sum += item.price * item.count;\n  }\n  return { amount: sum, currency: cart.currency };",
              new: "  // Cents are integers: sums of fractions drift.\n  const cents = cart.items.reduce((sum, { cents, count }) => sum + cents * count, 0);\n  return { amount: cents / 100, currency: cart.currency };",
            },
            {
              old: 'const percent = cart.coupon === "SUMMER" ? 10 : 0;',
              new: "const percent = coupons.get(cart.coupon)?.percent ?? 0;",
            },
          ],
        },
      ],
      [
        "edit_file",
        {
          path: "src/cart/types.ts",
          edits: [{ old: "  readonly coupon?: string;", new: "  readonly coupon?: CouponId;" }],
        },
      ],
      [
        "write_file",
        {
          path: "test/cart/cents.test.ts",
          content: 'import { test } from "vitest";\n\ntest.todo("ten times 0.10 is 1.00");\n',
        },
      ],
    ],
  },
  {
    client: "cursor/3.2.0",
    calls: [
      [
        "edit_file",
        {
          path: "test/cart/total.test.ts",
          edits: [{ old: "an empty cart costs nothing", new: "an empty cart is free" }],
        },
      ],
    ],
  },
];
