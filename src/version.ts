// The version, as a constant: the bundle then needs no package.json at run time. A test holds the two together.

export const version = "0.2.0";
