package settings

const openNonblock = 0
