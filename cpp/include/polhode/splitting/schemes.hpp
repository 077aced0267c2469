#pragma once

/// Splitting schemes as data: a step is a list of free flows and kicks.
///
/// With A the free flow and B the kick m += b h f (f the torque), a symmetric scheme of s stages is
/// the palindrome
///
///     outer_1 inner_1 outer_2 ... inner_s outer_{s+1}     [CZ08] Appendix, eq. (23)
///
/// Only its first half is stored, so that an asymmetric table is impossible.  An assertion next to
/// each table checks that the coefficients of each letter add up to 1;
/// tests/integration/test_splitting.py checks the order conditions.  A kick may include a modified
/// potential,
///
///     m += b h f - c h^3 W,   W = 2 (f x v - Df[Q hat(v)]),  v = I^-1 f     [Vil13] Sec. 3.2
///
/// the kick of the potential f . I^-1 f = {U, {U, T}} (REFERENCES.md: the printed flow is wrong).
/// The coefficients solve the order conditions to 50 digits: published coefficients were refined by
/// the smallest correction, at most 4e-15.
///
/// A new scheme is one table and one row of `all`.

#include <algorithm>
#include <array>
#include <iterator>

#include "polhode/config.hpp"
#include "polhode/splitting/arguments.hpp"
#include "polhode/splitting/processors.hpp"

POLHODE_NAMESPACE_BEGIN(splitting)

/// A palindrome of `Stages` inner and `Stages` + 1 outer flows.
template <int Stages>
struct Symmetric {
    static constexpr int length = 2 * Stages + 1;
    Stage::Kind outer;
    std::array<double, Stages / 2 + 1> outer_half;
    std::array<double, (Stages + 1) / 2> inner_half;
    /// c of the kicks, in the order of `outer_half` or `inner_half`, whichever are the kicks.
    std::array<double, Stages / 2 + 1> modified_half{};

    constexpr std::array<Stage, length> stages() const {
        std::array<Stage, length> result{};
        for (int i = 0; i < length; ++i) {
            const int from_end = i < length - 1 - i ? i : length - 1 - i;
            const bool is_outer = from_end % 2 == 0;
            const auto k = static_cast<std::size_t>(from_end / 2);
            const bool is_kick = is_outer == (outer == Stage::kick);
            result[static_cast<std::size_t>(i)] = {is_kick ? Stage::kick : Stage::flow,
                                                   is_outer ? outer_half[k] : inner_half[k],
                                                   is_kick ? modified_half[k] : 0.0};
        }
        return result;
    }
};

/// The composition S(gamma_1 h) S(gamma_2 h) ... S(gamma_s h), gamma palindromic, of the step
/// S(h) = outer(h/2) inner(h) outer(h/2); adjacent outer flows are combined.
template <int Steps>
struct Composition {
    static constexpr int length = 2 * Steps + 1;
    Stage::Kind outer;
    std::array<double, (Steps + 1) / 2> gamma_half;

    constexpr double gamma(int i) const {
        return gamma_half[static_cast<std::size_t>(i < Steps - 1 - i ? i : Steps - 1 - i)];
    }
    constexpr std::array<Stage, length> stages() const {
        const Stage::Kind inner = outer == Stage::kick ? Stage::flow : Stage::kick;
        std::array<Stage, length> result{};
        for (int i = 0; i < length; ++i) {
            const double before = i > 0 ? gamma((i - 1) / 2) : 0.0;
            const double after = i < length - 1 ? gamma(i / 2) : 0.0;
            result[static_cast<std::size_t>(i)] =
                i % 2 == 0 ? Stage{outer, 0.5 * (before + after)} : Stage{inner, gamma(i / 2)};
        }
        return result;
    }
};

// clang-format off: as many numbers in a line as fit
// --- order 2 ---

/// Kick-free-kick, [Vil13] eq. (16), also known as Stormer-Verlet.
inline constexpr auto strang = Composition<1>{Stage::kick, {1.0}}.stages();

/// Free-kick-free.
inline constexpr auto strang_free = Composition<1>{Stage::flow, {1.0}}.stages();

// --- any two flows: A and B may be exchanged ---

inline constexpr auto s6 = Symmetric<6>{Stage::flow,
    {0.07920369643119566943366, 0.353172906049773988481, -0.04206508035771953536811,
     0.2193769557534997549067},
    {0.209515106613362021274, -0.1438517731798180082751, 0.434336666566455987001}}.stages();
inline constexpr auto s10 = Symmetric<10>{Stage::flow,
    {0.05026276440039268602122, 0.413514300428343815063, 0.04507988979439806296889,
     -0.1880548538195689147991, 0.5419606784507801348314, -0.7255255585086915681709},
    {0.1488164479010432319209, -0.1323858657677836474488, 0.06730760469218445815025,
     0.4326664025781735975276, -0.01640458940361764014998}}.stages();
inline constexpr auto mclachlan4_4 = Symmetric<4>{Stage::flow,
    {0.1691392799220720451749, -0.299186203904050799509, 1.2600938479639575086681},
    {0.5454545454545454545453, -0.04545454545454545454537}}.stages();
inline constexpr auto mclachlan4_5 = Symmetric<5>{Stage::flow,
    {0.08926945422647524488687, -0.09733604263689550801524, 0.5080665884104202631283},
    {0.4000000000000000000002, -0.1, 0.3999999999999999999996}}.stages();
inline constexpr auto pefrl = Symmetric<4>{Stage::flow,
    {0.1786178958448090670599, -0.06626458266981849627801, 0.7752933736500188584362},
    {0.7123418310626054038318, -0.2123418310626054038318}}.stages();

// --- Runge-Kutta-Nystrom: the torque depends only on attitude (and time) ---

inline constexpr auto rkn4_4 = Symmetric<4>{Stage::flow,
    {0.188195217768838217868, -0.02152855110217155120134, 0.6666666666666666666666},
    {1.0, -0.5}}.stages();
inline constexpr auto rkn4_5 = Symmetric<5>{Stage::flow,
    {0.4051886183952522772101, -0.2871440408165240889906, 0.3819554224212718117804},
    {-0.04109589041095890411433, 0.288135593220338983045, 0.5059205943812398421385}}.stages();
inline constexpr auto rkn4_6 = Symmetric<6>{Stage::kick,
    {0.08298440641740501883834, 0.3963098014983680770949, -0.03905630492234843517086,
     0.1195241940131506784752},
    {0.2452989571842711626039, 0.6048726657110799749608, -0.3501716228953511375648}}.stages();
inline constexpr auto rkn6_11 = Symmetric<11>{Stage::kick,
    {0.04146499851826284329877, 0.1981286719180665411367, -0.04000619210415268688882,
     0.07525398430158034112787, -0.01151138742068777006244, 0.2366699247869307313878},
    {0.123229775946271151561, 0.2905537977995582703664, -0.1270492126254169156625,
     -0.2463317610620754041949, 0.3572088727959277526198, 0.2047770542914702906202}}.stages();
inline constexpr auto rkn6_14 = Symmetric<14>{Stage::flow,
    {0.03785931984061094144702, 0.102635633102436552847, -0.02586788826655833316394,
     0.3142414030714464341471, -0.1301444595174151138496, 0.1064177003695413680222,
     -0.008794243128510204394069, 0.2073050690568967098882},
    {0.09171915262446201798118, 0.1839831700050048984914, -0.05653436583288910439527,
     0.004914688774711885640205, 0.1437611271683616823873, 0.3285676937468041402004,
     -0.1964114664864555203054}}.stages();
inline constexpr auto rkn6_7 = Symmetric<7>{Stage::flow,
    {-1.0130879789171747298149, 1.1874295737325427070242, -0.01833585209646059034438,
     0.3439942572810926131349},
    {0.0001660069265000989421747, -0.3796242142637736060819, 0.6891374118518106367408,
     0.3806415909709257407979}}.stages();

// --- a small torque: orders by powers of its size, see SplittingScheme::generalised ---

inline constexpr auto saba2 = Symmetric<2>{Stage::flow,
    {0.2113248654051871177454, 0.5773502691896257645091}, {0.5}}.stages();
inline constexpr auto saba3 = Symmetric<3>{Stage::flow,
    {0.112701665379258311482, 0.3872983346207416885179},
    {0.2777777777777777777777, 0.4444444444444444444444}}.stages();
inline constexpr auto saba4 = Symmetric<4>{Stage::flow,
    {0.06943184420297371238802, 0.2605776340045981552106, 0.3399810435848562648026},
    {0.1739274225687269286865, 0.3260725774312730713134}}.stages();
inline constexpr auto aba84 = Symmetric<5>{Stage::flow,
    {0.07534696026989288841652, 0.5179168546882567823007, -0.0932638149581496707173},
    {0.1902259393736766192452, 0.846524070443526257055, -1.0735000196344057526006}}.stages();
inline constexpr auto aba104 = Symmetric<7>{Stage::flow,
    {0.04706710064597250612947, 0.1847569354170881069247, 0.2827060056798362053243,
     -0.01453004174289681837857},
    {0.1188819173681970199453, 0.2410504605515015657441, -0.2732866667053238060543,
     0.8267085775712504407295}}.stages();
inline constexpr auto aba864 = Symmetric<7>{Stage::flow,
    {0.07113342649822311777793, 0.2411534279566400987364, 0.5214117617728147892121,
     -0.3336986162276780057265},
    {0.1830836874721972219617, 0.3107828598985748695075, -0.02656461851195880069721,
     0.06539614228237341845597}}.stages();
inline constexpr auto aba1064 = Symmetric<8>{Stage::flow,
    {0.03809449742241219545697, 0.145298716116913749294, 0.2076276957255412507162,
     0.4359097036515261592231, -0.6538612258327867093807},
    {0.09585888083707521061077, 0.2044461531429987806805, 0.2170703479789911017143,
     -0.01737538195906509300561}}.stages();
inline constexpr auto saba5 = Symmetric<5>{Stage::flow,
    {0.04691007703066800360118, 0.1838552679164904508806, 0.2692346550528415455181},
    {0.1184634425280945437571, 0.2393143352496832340206, 0.2844444444444444444444}}.stages();
inline constexpr auto saba6 = Symmetric<6>{Stage::flow,
    {0.03376524289842398609384, 0.1356300638684437570754, 0.2112951001915338025154,
     0.2386191860831969086305},
    {0.08566224618958517252014, 0.1803807865240693037849, 0.2339569672863455236949}}.stages();

// --- compositions of kick-free-kick ---

inline constexpr auto yoshida4 = Composition<3>{Stage::kick,
    {1.3512071919596576340476, -1.7024143839193152680953}}.stages();
inline constexpr auto suzuki4_5 = Composition<5>{Stage::kick,
    {0.4144907717943757371423, 0.4144907717943757371423, -0.6579630871775029485694}}.stages();
inline constexpr auto mclachlan4_ss5 = Composition<5>{Stage::kick,
    {0.2800000000000000000046, 0.6254664284676700450021, -0.8109328569353400900136}}.stages();
inline constexpr auto yoshida6_7 = Composition<7>{Stage::kick,
    {0.7845136104775572638194, 0.2355732133593581336847, -1.1776799841788710069464,
     1.3151863206839112188842}}.stages();
inline constexpr auto kahan_li6_9 = Composition<9>{Stage::kick,
    {0.3921614440073141392792, 0.3325991367893594385997, -0.7062461725576393598099,
     0.08221359629355080023149, 0.7985439909348299633989}}.stages();
inline constexpr auto mclachlan6_9 = Composition<9>{Stage::kick,
    {0.1866999999999999999977, 0.5554970237124783991573, 0.129466948913475358058,
     -0.8432656233877346085494, 0.9432033015235617026726}}.stages();
inline constexpr auto suzuki8_15 = Composition<15>{Stage::kick,
    {0.7416703643506129534482, -0.4091008258000315939973, 0.1907547102962383799538,
     -0.5738624711160822666563, 0.2990641813036559238444, 0.3346249182452981837849,
     0.315293092396766596632, -0.7968879393529163540197}}.stages();
inline constexpr auto kahan_li8_17 = Composition<17>{Stage::kick,
    {0.1302024830888900808788, 0.5611629817751083845619, -0.389474962644847286408,
     0.1588419065551556008962, -0.3959038941332375773362, 0.1845396409783157070918,
     0.2583743876863220472939, 0.2950117236093102988709, -0.6055085338300345116989}}.stages();
inline constexpr auto mclachlan8_17 = Composition<17>{Stage::kick,
    {0.1288659793814432989665, 0.5815140871052509624307, -0.4101753714698501375262,
     0.1851469357165877326556, -0.4095523434208514193459, 0.1444059410800120410604,
     0.2783355003936796513123, 0.3149566839162948578866, -0.6269948254051339748801}}.stages();
inline constexpr auto sofroniou10_35 = Composition<35>{Stage::kick,
    {0.0787957225216864192639, 0.3130961034151085277648, 0.02791838323507806610952,
     -0.2295928415939070941512, 0.1309620610771648631746, -0.2697334056545107143446,
     0.07497334315589143566613, 0.1119934239998102048895, 0.3661334495462267511931,
     -0.3991056301360358978786, 0.1030873985274710773158, 0.4114308739558902378207,
     -0.004866360583135261762195, -0.392033353708639906448, 0.05194250296244964703718,
     0.05066509075992449633587, 0.04967437063972987905456, 0.04931773575959453791768}}.stages();

// --- kicks with a modified potential, coefficients c ---

inline constexpr auto chin4a = Symmetric<2>{Stage::kick,
    {0.1666666666666666666666, 0.6666666666666666666666}, {0.5},
    {0.0, 0.01388888888888888888888}}.stages();
inline constexpr auto chin4b = Symmetric<2>{Stage::flow,
    {0.2113248654051871177454, 0.5773502691896257645091}, {0.5},
    {0.005582274842315056384844}}.stages();
inline constexpr auto chin4c = Symmetric<3>{Stage::flow,
    {0.1666666666666666666666, 0.3333333333333333333333}, {0.375, 0.25},
    {0.0, 0.005208333333333333333333}}.stages();
inline constexpr auto chin4d = Symmetric<3>{Stage::kick, {0.125, 0.375},
    {0.3333333333333333333333, 0.3333333333333333333333},
    {0.0, 0.002604166666666666666666}}.stages();
inline constexpr auto takahashi_imada = Symmetric<1>{Stage::flow, {0.5}, {1.0},
    {0.04166666666666666666666}}.stages();
inline constexpr auto rowlands = Symmetric<1>{Stage::kick, {0.5}, {1.0},
    {0.02083333333333333333333}}.stages();
inline constexpr auto u4_6 = Symmetric<4>{Stage::kick,
    {0.3599508087941436274856, -0.1437147273026540434771, 0.5675278370170208319828},
    {1.0798524263824308824569, -0.5798524263824308824569},
    {0.0, -0.01396525422423884036728, -0.03924702938234562602023}}.stages();
inline constexpr auto t5_6 = Symmetric<5>{Stage::flow,
    {0.2681736838618042689238, -0.1614440982428575435862, 0.3932704143810532746623},
    {0.03581217090021196408485, 0.2569609556613408423009, 0.4144537468768943872284},
    {-0.0008593565200061129802475, 0.001996963977408584739805, 0.0052033269231798983911}}.stages();
inline constexpr auto t5b_6 = Symmetric<5>{Stage::flow,
    {0.7608666204632814973955, -0.648270895561621614588, 0.3874042750983401171924},
    {0.0006125934869686333933498, 0.277348108074087149073, 0.4440785968778884350671},
    {-0.00003202358334206043548081, 0.0009888333760536575365231,
     0.004065120743017510866729}}.stages();
inline constexpr auto u5_6 = Symmetric<5>{Stage::kick,
    {0.1441208277825183902104, 0.3948427119706307298228, -0.03896353975314912003326},
    {0.7096049357463948261349, 0.3386231825156622421042, -1.0964562365241141364784},
    {0.006299747330165310528242, 0.02827358790080474726863, -0.01021389960251275841138}}.stages();
inline constexpr auto t5a_6 = Symmetric<5>{Stage::flow,
    {0.1094983141824114685873, 0.4393783304256708781188, -0.04887664460808234670619},
    {0.2687036338598424645929, 0.2895143963458680303183, -0.1164360604114209898224},
    {0.0, 0.05612760102273874974938, -0.103207083815339816885}}.stages();
// clang-format on

/// A row of the list.  Schemes of the kinds "rkn" and "modified" need a torque that depends only on
/// attitude (and time).
template <std::size_t Length>
constexpr SplittingScheme row(const char* name,
                              int order,
                              const char* kind,
                              const std::array<Stage, Length>& stages,
                              const char* source,
                              GeneralisedOrder generalised = {},
                              int effective_order = 0) {
    return {name,
            order,
            kind,
            true,
            kind[0] == 'r' || kind[0] == 'm',
            source,
            generalised,
            effective_order != 0 ? effective_order : order,
            stages.data(),
            static_cast<int>(Length)};
}

/// The row of a scheme with processor.
template <std::size_t Length, std::size_t Processing>
constexpr SplittingScheme processed(const char* name,
                                    const std::array<Stage, Length>& kernel,
                                    const std::array<Stage, Processing>& processor,
                                    const char* source,
                                    GeneralisedOrder generalised) {
    const int order = generalised.power[1];
    SplittingScheme scheme = row(name, order, "processed", kernel, source, generalised);
    scheme.symmetric = false;
    for (const Stage& stage : kernel) {
        if (stage.modified != 0) scheme.attitude_only = true;
    }
    scheme.processor = processor.data();
    scheme.processor_count = static_cast<int>(Processing);
    return scheme;
}
inline constexpr auto processing4 = processor4.stages();
inline constexpr const char* processor_source = "[BCR00], REFERENCES.md, splitting schemes";
inline constexpr auto processing8 = processor8.stages();

/// The list of all schemes.
inline constexpr SplittingScheme all[] = {
    row("strang", 2, "composition", strang, "[Vil13] eq. (16)"),
    row("strang_free", 2, "composition", strang_free, "[CZ08] Sec. 4.3"),
    row("s6", 4, "partitioned", s6, "[BM02] S6"),
    row("s10", 6, "partitioned", s10, "[BM02] S10"),
    row("mclachlan4_4", 4, "partitioned", mclachlan4_4, "[McL95] S4"),
    row("mclachlan4_5", 4, "partitioned", mclachlan4_5, "[McL95] S5"),
    row("pefrl", 4, "partitioned", pefrl, "[OMF02] PEFRL"),
    row("rkn4_4", 4, "rkn", rkn4_4, "[McL95] SB3A, m = 4"),
    row("rkn4_5", 4, "rkn", rkn4_5, "[McL95] SB3A, m = 5"),
    row("rkn4_6", 4, "rkn", rkn4_6, "[BM02] SRKN6b"),
    row("rkn6_11", 6, "rkn", rkn6_11, "[BM02] SRKN11b"),
    row("rkn6_14", 6, "rkn", rkn6_14, "[BM02] SRKN14a, [CZ08] eq. (23)"),
    row("rkn6_7", 6, "rkn", rkn6_7, "[OS94] method 13"),
    row("saba2", 2, "near-integrable", saba2, "[LR01] SABA2", {4, 2}),
    row("saba3", 2, "near-integrable", saba3, "[LR01] SABA3", {6, 2}),
    row("saba4", 2, "near-integrable", saba4, "[LR01] SABA4", {8, 2}),
    row("aba84", 4, "near-integrable", aba84, "[McL95b]", {8, 4}),
    row("aba104", 4, "near-integrable", aba104, "[BCF13] ABA104", {10, 4}),
    row("aba864", 4, "near-integrable", aba864, "[BCF13] ABA864", {8, 6, 4}),
    row("aba1064", 4, "near-integrable", aba1064, "[BCF13] ABA1064", {10, 6, 4}),
    row("saba5", 2, "near-integrable", saba5, "[LR01] SABA5", {10, 2}),
    row("saba6", 2, "near-integrable", saba6, "[LR01] SABA6", {12, 2}),
    row("yoshida4", 4, "composition", yoshida4, "[Yos90], [Suz90]"),
    row("suzuki4_5", 4, "composition", suzuki4_5, "[Suz90]"),
    row("mclachlan4_ss5", 4, "composition", mclachlan4_ss5, "[McL95] SS, m = 5"),
    row("yoshida6_7", 6, "composition", yoshida6_7, "[Yos90] A"),
    row("kahan_li6_9", 6, "composition", kahan_li6_9, "[KL97], [HLW06] eq. (V.3.12)"),
    row("mclachlan6_9", 6, "composition", mclachlan6_9, "[McL95] SS, m = 9"),
    row("suzuki8_15", 8, "composition", suzuki8_15, "[SU93], [HLW06] eq. (V.3.11)"),
    row("kahan_li8_17", 8, "composition", kahan_li8_17, "[KL97], [HLW06] eq. (V.3.13)"),
    row("mclachlan8_17", 8, "composition", mclachlan8_17, "[McL95] SS, m = 17"),
    row("sofroniou10_35", 10, "composition", sofroniou10_35, "[SS05], [HLW06] eq. (V.3.14)"),
    row("chin4a", 4, "modified", chin4a, "[Suz95], [Chin97] 4A, [Vil13] Sec. 3.2"),
    row("chin4b", 4, "modified", chin4b, "[Chin97] 4B"),
    row("chin4c", 4, "modified", chin4c, "[Chin97] 4C"),
    row("chin4d", 4, "modified", chin4d, "[Chin97] 4D"),
    row("takahashi_imada", 2, "modified", takahashi_imada, "[TI84]", {}, 4),
    row("rowlands", 2, "modified", rowlands, "[Row91]", {}, 4),
    row("u4_6", 6, "modified", u4_6, "REFERENCES.md, splitting schemes"),
    row("t5_6", 6, "modified", t5_6, "REFERENCES.md, splitting schemes"),
    row("t5b_6", 6, "modified", t5b_6, "REFERENCES.md, splitting schemes"),
    row("u5_6", 6, "modified", u5_6, "REFERENCES.md, splitting schemes"),
    row("t5a_6", 6, "modified", t5a_6, "REFERENCES.md, splitting schemes"),
    processed("processed_strang182", strang_free, processing8, processor_source, {18, 2}),
    processed("processed_ti104", takahashi_imada, processing4, processor_source, {10, 4}),
    processed("processed_ti184", takahashi_imada, processing8, processor_source, {18, 4}),
};

/// The flows sum to the step, and so do the kicks.
constexpr bool is_consistent(const SplittingScheme& scheme) {
    double flows = -1, kicks = -1;
    for (int i = 0; i < scheme.count; ++i) {
        (scheme.stages[i].kind == Stage::flow ? flows : kicks) += scheme.stages[i].coefficient;
    }
    return flows < 0x1p-50 && -flows < 0x1p-50 && kicks < 0x1p-50 && -kicks < 0x1p-50;
}
static_assert(std::all_of(std::begin(all), std::end(all), is_consistent));

POLHODE_NAMESPACE_END
