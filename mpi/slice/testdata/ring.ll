; ModuleID = 'ring.ll'
source_filename = "ring.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@__const.main.sizes = private unnamed_addr constant [2 x i32] [i32 1, i32 2], align 4
@results = internal global [64 x double] zeroinitializer, align 16
@.str = private unnamed_addr constant [4 x i8] c"%f\0A\00", align 1
@chunk = internal global i32 4, align 4

; Function Attrs: noinline nounwind uwtable
define dso_local i32 @main(i32 noundef %arg, ptr noundef %arg8) #0 !dbg !10 {
bb:
  %i = alloca i32, align 4
  %i9 = alloca ptr, align 8
  %i10 = alloca i32, align 4
  %i11 = alloca i32, align 4
  %i12 = alloca [2 x i32], align 4
  %i13 = alloca i32, align 4
  store i32 %arg, ptr %i, align 4
  store ptr %arg8, ptr %i9, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %i12, ptr align 4 @__const.main.sizes, i64 8, i1 false), !dbg !13
  %i14 = call i32 @MPI_Init(ptr noundef %i, ptr noundef %i9), !dbg !14
  %i15 = call i32 @MPI_Comm_rank(i32 noundef 1140850688, ptr noundef %i10), !dbg !15
  %i16 = call i32 @MPI_Comm_size(i32 noundef 1140850688, ptr noundef %i11), !dbg !16
  %i17 = call noalias ptr @malloc(i64 noundef 512) #7, !dbg !17
  %i18 = call i32 @MPI_Allreduce(ptr noundef %i10, ptr noundef %i13, i32 noundef 1, i32 noundef 1275069445, i32 noundef 1476395011, i32 noundef 1140850688), !dbg !18
  br label %bb19, !dbg !19

bb19:                                             ; preds = %bb22, %bb
  %.07 = phi double [ 0.000000e+00, %bb ], [ %i24, %bb22 ], !dbg !20
  %.0 = phi i32 [ 0, %bb ], [ %i40, %bb22 ], !dbg !21
  %i20 = load i32, ptr %i13, align 4, !dbg !22
  %i21 = icmp slt i32 %.0, %i20, !dbg !23
  br i1 %i21, label %bb22, label %bb41, !dbg !24

bb22:                                             ; preds = %bb19
  %i23 = call double @work(ptr noundef %i17, i32 noundef 64), !dbg !25
  %i24 = fadd double %.07, %i23, !dbg !26
  %i25 = load i32, ptr %i10, align 4, !dbg !27
  %i26 = getelementptr inbounds [2 x i32], ptr %i12, i64 0, i64 0, !dbg !28
  %i27 = call i32 @length(i32 noundef %i25, ptr noundef %i26), !dbg !29
  %i28 = load i32, ptr %i10, align 4, !dbg !30
  %i29 = add nsw i32 %i28, 1, !dbg !31
  %i30 = load i32, ptr %i11, align 4, !dbg !32
  %i31 = srem i32 %i29, %i30, !dbg !33
  %i32 = call i32 @MPI_Send(ptr noundef %i17, i32 noundef %i27, i32 noundef 1275070475, i32 noundef %i31, i32 noundef 1, i32 noundef 1140850688), !dbg !34
  %i33 = load i32, ptr %i10, align 4, !dbg !35
  %i34 = load i32, ptr %i11, align 4, !dbg !36
  %i35 = add nsw i32 %i33, %i34, !dbg !37
  %i36 = sub nsw i32 %i35, 1, !dbg !38
  %i37 = load i32, ptr %i11, align 4, !dbg !39
  %i38 = srem i32 %i36, %i37, !dbg !40
  %i39 = call i32 @MPI_Recv(ptr noundef %i17, i32 noundef 64, i32 noundef 1275070475, i32 noundef %i38, i32 noundef 1, i32 noundef 1140850688, ptr noundef inttoptr (i64 1 to ptr)), !dbg !41
  %i40 = add nsw i32 %.0, 1, !dbg !42
  br label %bb19, !dbg !24, !llvm.loop !43

bb41:                                             ; preds = %bb19
  %i42 = load i32, ptr %i10, align 4, !dbg !46
  %i43 = sext i32 %i42 to i64, !dbg !47
  %i44 = getelementptr inbounds [64 x double], ptr @results, i64 0, i64 %i43, !dbg !47
  store double %.07, ptr %i44, align 8, !dbg !48
  %i45 = load i32, ptr %i10, align 4, !dbg !49
  %i46 = sext i32 %i45 to i64, !dbg !50
  %i47 = getelementptr inbounds [64 x double], ptr @results, i64 0, i64 %i46, !dbg !50
  %i48 = load double, ptr %i47, align 8, !dbg !50
  %i49 = call i32 (ptr, ...) @printf(ptr noundef @.str, double noundef %i48), !dbg !51
  call void @free(ptr noundef %i17) #8, !dbg !52
  %i50 = call i32 @MPI_Finalize(), !dbg !53
  ret i32 0, !dbg !54
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #1

declare i32 @MPI_Init(ptr noundef, ptr noundef) #2

declare i32 @MPI_Comm_rank(i32 noundef, ptr noundef) #2

declare i32 @MPI_Comm_size(i32 noundef, ptr noundef) #2

; Function Attrs: nounwind allocsize(0)
declare noalias ptr @malloc(i64 noundef) #3

declare i32 @MPI_Allreduce(ptr noundef, ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef) #2

; Function Attrs: noinline nounwind uwtable
define internal double @work(ptr noundef %arg, i32 noundef %arg10) #0 !dbg !55 {
bb:
  br label %bb11, !dbg !56

bb11:                                             ; preds = %bb12, %bb
  %.09 = phi double [ 0.000000e+00, %bb ], [ %i20, %bb12 ], !dbg !57
  %.0 = phi i32 [ 0, %bb ], [ %i21, %bb12 ], !dbg !58
  %i = icmp slt i32 %.0, %arg10, !dbg !59
  br i1 %i, label %bb12, label %bb22, !dbg !60

bb12:                                             ; preds = %bb11
  %i13 = sext i32 %.0 to i64, !dbg !61
  %i14 = getelementptr inbounds double, ptr %arg, i64 %i13, !dbg !61
  %i15 = load double, ptr %i14, align 8, !dbg !61
  %i16 = sitofp i32 %.0 to double, !dbg !62
  %i17 = call double @llvm.fmuladd.f64(double %i15, double 5.000000e-01, double %i16), !dbg !63
  %i18 = sext i32 %.0 to i64, !dbg !64
  %i19 = getelementptr inbounds double, ptr %arg, i64 %i18, !dbg !64
  store double %i17, ptr %i19, align 8, !dbg !65
  %i20 = fadd double %.09, %i17, !dbg !66
  %i21 = add nsw i32 %.0, 1, !dbg !67
  br label %bb11, !dbg !60, !llvm.loop !68

bb22:                                             ; preds = %bb11
  ret double %.09, !dbg !69
}

declare i32 @MPI_Send(ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef) #2

; Function Attrs: noinline nounwind uwtable
define internal i32 @length(i32 noundef %arg, ptr noundef %arg2) #0 !dbg !70 {
bb:
  %i = icmp slt i32 %arg, 0, !dbg !71
  br i1 %i, label %bb3, label %bb4, !dbg !72

bb3:                                              ; preds = %bb
  call void @exit(i32 noundef 3) #9, !dbg !73
  unreachable, !dbg !73

bb4:                                              ; preds = %bb
  %i5 = srem i32 %arg, 2, !dbg !74
  %i6 = sext i32 %i5 to i64, !dbg !75
  %i7 = getelementptr inbounds i32, ptr %arg2, i64 %i6, !dbg !75
  %i8 = load i32, ptr %i7, align 4, !dbg !75
  %i9 = load i32, ptr @chunk, align 4, !dbg !76
  %i10 = mul nsw i32 %i8, %i9, !dbg !77
  ret i32 %i10, !dbg !78
}

declare i32 @MPI_Recv(ptr noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, i32 noundef, ptr noundef) #2

declare i32 @printf(ptr noundef, ...) #2

; Function Attrs: nounwind
declare void @free(ptr noundef) #4

declare i32 @MPI_Finalize() #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fmuladd.f64(double, double, double) #5

; Function Attrs: noreturn nounwind
declare void @exit(i32 noundef) #6

attributes #0 = { noinline nounwind uwtable "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nounwind allocsize(0) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { noreturn nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nounwind allocsize(0) }
attributes #8 = { nounwind }
attributes #9 = { noreturn nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7, !8}
!llvm.ident = !{!9}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "ring.c", directory: "/")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{i32 7, !"frame-pointer", i32 2}
!9 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!10 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 23, type: !11, scopeLine: 24, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !12)
!11 = !DISubroutineType(types: !12)
!12 = !{}
!13 = !DILocation(line: 25, column: 18, scope: !10)
!14 = !DILocation(line: 26, column: 2, scope: !10)
!15 = !DILocation(line: 27, column: 2, scope: !10)
!16 = !DILocation(line: 28, column: 2, scope: !10)
!17 = !DILocation(line: 29, column: 14, scope: !10)
!18 = !DILocation(line: 30, column: 2, scope: !10)
!19 = !DILocation(line: 31, column: 7, scope: !10)
!20 = !DILocation(line: 0, scope: !10)
!21 = !DILocation(line: 31, scope: !10)
!22 = !DILocation(line: 31, column: 28, scope: !10)
!23 = !DILocation(line: 31, column: 26, scope: !10)
!24 = !DILocation(line: 31, column: 2, scope: !10)
!25 = !DILocation(line: 32, column: 8, scope: !10)
!26 = !DILocation(line: 32, column: 5, scope: !10)
!27 = !DILocation(line: 33, column: 22, scope: !10)
!28 = !DILocation(line: 33, column: 28, scope: !10)
!29 = !DILocation(line: 33, column: 15, scope: !10)
!30 = !DILocation(line: 33, column: 49, scope: !10)
!31 = !DILocation(line: 33, column: 54, scope: !10)
!32 = !DILocation(line: 33, column: 61, scope: !10)
!33 = !DILocation(line: 33, column: 59, scope: !10)
!34 = !DILocation(line: 33, column: 3, scope: !10)
!35 = !DILocation(line: 34, column: 32, scope: !10)
!36 = !DILocation(line: 34, column: 39, scope: !10)
!37 = !DILocation(line: 34, column: 37, scope: !10)
!38 = !DILocation(line: 34, column: 44, scope: !10)
!39 = !DILocation(line: 34, column: 51, scope: !10)
!40 = !DILocation(line: 34, column: 49, scope: !10)
!41 = !DILocation(line: 34, column: 3, scope: !10)
!42 = !DILocation(line: 31, column: 39, scope: !10)
!43 = distinct !{!43, !24, !44, !45}
!44 = !DILocation(line: 35, column: 2, scope: !10)
!45 = !{!"llvm.loop.mustprogress"}
!46 = !DILocation(line: 36, column: 10, scope: !10)
!47 = !DILocation(line: 36, column: 2, scope: !10)
!48 = !DILocation(line: 36, column: 16, scope: !10)
!49 = !DILocation(line: 37, column: 25, scope: !10)
!50 = !DILocation(line: 37, column: 17, scope: !10)
!51 = !DILocation(line: 37, column: 2, scope: !10)
!52 = !DILocation(line: 38, column: 2, scope: !10)
!53 = !DILocation(line: 39, column: 2, scope: !10)
!54 = !DILocation(line: 40, column: 2, scope: !10)
!55 = distinct !DISubprogram(name: "work", scope: !1, file: !1, line: 8, type: !11, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0, retainedNodes: !12)
!56 = !DILocation(line: 11, column: 7, scope: !55)
!57 = !DILocation(line: 0, scope: !55)
!58 = !DILocation(line: 11, scope: !55)
!59 = !DILocation(line: 11, column: 20, scope: !55)
!60 = !DILocation(line: 11, column: 2, scope: !55)
!61 = !DILocation(line: 12, column: 15, scope: !55)
!62 = !DILocation(line: 12, column: 28, scope: !55)
!63 = !DILocation(line: 12, column: 26, scope: !55)
!64 = !DILocation(line: 12, column: 8, scope: !55)
!65 = !DILocation(line: 12, column: 13, scope: !55)
!66 = !DILocation(line: 12, column: 5, scope: !55)
!67 = !DILocation(line: 11, column: 26, scope: !55)
!68 = distinct !{!68, !60, !62, !45}
!69 = !DILocation(line: 13, column: 2, scope: !55)
!70 = distinct !DISubprogram(name: "length", scope: !1, file: !1, line: 16, type: !11, scopeLine: 17, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0, retainedNodes: !12)
!71 = !DILocation(line: 18, column: 11, scope: !70)
!72 = !DILocation(line: 18, column: 6, scope: !70)
!73 = !DILocation(line: 19, column: 3, scope: !70)
!74 = !DILocation(line: 20, column: 20, scope: !70)
!75 = !DILocation(line: 20, column: 9, scope: !70)
!76 = !DILocation(line: 20, column: 27, scope: !70)
!77 = !DILocation(line: 20, column: 25, scope: !70)
!78 = !DILocation(line: 20, column: 2, scope: !70)
