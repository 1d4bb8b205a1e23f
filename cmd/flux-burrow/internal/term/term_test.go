// SPDX-License-Identifier: LGPL-3.0-or-later

package term

import "testing"

func TestASCII(t *testing.T) {
	set := func(all, ctype, lang string) {
		t.Setenv("LC_ALL", all)
		t.Setenv("LC_CTYPE", ctype)
		t.Setenv("LANG", lang)
	}
	t.Setenv("FLUX_F58_FORCE_ASCII", "")
	set("", "", "en_US.UTF-8")
	if ASCII() {
		t.Error("LANG=en_US.UTF-8")
	}
	set("C", "", "en_US.UTF-8")
	if !ASCII() {
		t.Error("LC_ALL=C")
	}
	set("", "", "C.utf8")
	if ASCII() {
		t.Error("LANG=C.utf8")
	}
	t.Setenv("FLUX_F58_FORCE_ASCII", "1")
	if !ASCII() {
		t.Error("FLUX_F58_FORCE_ASCII")
	}
}
