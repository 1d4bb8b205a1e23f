// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader_test

import (
	"fmt"

	"flux-burrow/rv1reader"
)

func ExampleRead() {
	r, err := rv1reader.Read([]byte(`{"version":1,"execution":{"R_lite":[
		{"rank":"0-2","children":{"core":"0-7","gpu":"0-1"}}],"nodelist":["tioga[10-12]"]}}`))
	fmt.Println(r.Short(), r.Host(1), err)

	_, err = rv1reader.Read([]byte(`{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"3-1"}}]}}`))
	fmt.Println(err)
	// Output:
	// rank[0-2]/core[0-7],gpu[0-1] tioga11 <nil>
	// 1 error occurred:
	// 	* execution.R_lite[0].children.core: "3-1": range 3-1 does not rise (byte 0 of the string, at byte 67)
}

func ExampleInventory_Map() {
	instance, _ := rv1reader.Read([]byte(`{"version":1,"execution":{"R_lite":[
		{"rank":"0-3","children":{"core":"0-7"}}],"nodelist":["n[0-3]"]}}`))
	job, _ := rv1reader.Read([]byte(`{"version":1,"execution":{"R_lite":[
		{"rank":"0-1","children":{"core":"0-7"}}],"nodelist":["n[0,3]"]}}`))
	m := rv1reader.NewInventory(instance).Map(job)
	fmt.Println("holds", m.Set, "in doubt", m.Doubt)
	for _, p := range m.Problems {
		fmt.Println(p)
	}
	// Output:
	// holds rank0/core[0-7] in doubt 1,3
	// rank 1 (n3): the host is at rank 3 now, and n1 where it was
}
