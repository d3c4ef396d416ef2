// The page's few pictures, drawn in the colour of the text around them.
import type { ComponentChildren } from "preact";

function Icon({ children, size = 18 }: { readonly children: ComponentChildren; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width={size > 24 ? 1.4 : 1.9}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

type Size = { readonly size?: number };

export const Sun = (size: Size) => (
  <Icon {...size}>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" />
  </Icon>
);

export const Moon = (size: Size) => (
  <Icon {...size}>
    <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z" />
  </Icon>
);

export const Help = (size: Size) => (
  <Icon {...size}>
    <circle cx="12" cy="12" r="9" />
    <path d="M9.2 9.2a2.9 2.9 0 1 1 4.2 2.6c-.9.5-1.4 1-1.4 2M12 17h.01" />
  </Icon>
);

export const Filter = (size: Size) => (
  <Icon {...size}>
    <path d="M4 6h16M7 12h10M10 18h4" />
  </Icon>
);

export const Chevron = (size: Size) => (
  <Icon {...size}>
    <path d="m9 6 6 6-6 6" />
  </Icon>
);

export const Back = (size: Size) => (
  <Icon {...size}>
    <path d="M19 12H5M11 6l-6 6 6 6" />
  </Icon>
);

export const Comment = (size: Size) => (
  <Icon {...size}>
    <path d="M20 12a8 8 0 0 1-8 8H4l1.7-3.2A8 8 0 1 1 20 12Z" />
  </Icon>
);

export const Check = (size: Size) => (
  <Icon {...size}>
    <path d="m5 12.5 4.5 4.5L19 7.5" />
  </Icon>
);

export const Undo = (size: Size) => (
  <Icon {...size}>
    <path d="M8 5 4 9l4 4M4.5 9H14a5.5 5.5 0 0 1 0 11h-3" />
  </Icon>
);

export const Pages = (size: Size) => (
  <Icon {...size}>
    <path d="M7 3h7l5 5v13H7zM14 3v5h5M10.5 13h5M10.5 17h5" />
  </Icon>
);

export const Pulse = (size: Size) => (
  <Icon {...size}>
    <path d="M3 12h4l3-8 4 16 3-8h4" />
  </Icon>
);

export const Question = (size: Size) => <Help {...size} />;

export const Alert = (size: Size) => (
  <Icon {...size}>
    <path d="M12 4 2.8 20h18.4zM12 10v4M12 17h.01" />
  </Icon>
);
